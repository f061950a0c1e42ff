import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { acceptedEncoding } from '../../platform/encodings.js';
import type { Reply } from '../reply.js';

/** The built portal. */
export interface Portal {
  /** Changes with every change of its files. */
  readonly version: string;
  /** The script and the style sheets that a page loads, and the scripts that the first one asks for. */
  readonly script: string;
  readonly styles: readonly string[];
  readonly preloads: readonly string[];
  /** Whether there is a page at this path below `/app`. */
  hasPage(path: string): boolean;
  /** A file by its name, `null` when there is none. */
  file(name: string, acceptEncoding: string | undefined): Reply | null;
}

interface Chunk {
  readonly file: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
};

/** `/websites/:websiteId` as what a path has to match. */
const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/:[^/]+/g, '[^/]+')}/?$`);

/**
 * Reads the portal's files as they are asked for. Their names hold a hash of their content, so that
 * browsers keep them for good.
 * @param folder where the build put them (`scripts/portal/build.mjs`)
 */
export const openPortal = (folder: string): Portal => {
  const manifestText = readFileSync(join(folder, 'manifest.json'), 'utf8');
  const manifest = JSON.parse(manifestText) as Readonly<Record<string, Chunk>>;
  const paths = JSON.parse(readFileSync(join(folder, 'paths.json'), 'utf8')) as Readonly<Record<string, string>>;
  const patterns = Object.values(paths).map(patternOf);
  const entry = manifest['src/main.tsx'];
  if (entry === undefined) throw new Error(`The portal in ${folder} has no entry`);
  const chunks = withImports(manifest, entry);
  const names = new Set(Object.values(manifest).flatMap(({ file, css = [] }) => [file, ...css]));

  return {
    version: createHash('sha256').update(manifestText).digest('base64url').slice(0, 12),
    script: entry.file,
    styles: chunks.flatMap(({ css = [] }) => css),
    preloads: chunks.slice(1).map(({ file }) => file),
    hasPage: (path) => patterns.some((pattern) => pattern.test(path)),
    file: (name, acceptEncoding) => {
      const contentType = types[name.split('.').at(-1) ?? ''];
      if (!names.has(name) || contentType === undefined) return null;
      const [plain, compressed] = [join(folder, name), join(folder, `${name}.br`)];
      const asBrotli = acceptedEncoding(acceptEncoding ?? '') === 'br' && existsSync(compressed);
      // A portal that was built since has files of other names.
      if (!asBrotli && !existsSync(plain)) return null;
      return {
        status: 200,
        headers: {
          'content-type': contentType,
          'cache-control': 'public, max-age=31536000, immutable',
          vary: 'accept-encoding',
          ...(asBrotli && { 'content-encoding': 'br' }),
        },
        body: readFileSync(asBrotli ? compressed : plain),
      };
    },
  };
};

/** A chunk, and all that it imports before it runs. */
const withImports = (manifest: Readonly<Record<string, Chunk>>, entry: Chunk): readonly Chunk[] => {
  const found = new Set([entry]);
  for (const { imports = [] } of found) {
    for (const name of imports) {
      const chunk = manifest[name];
      if (chunk !== undefined) found.add(chunk);
    }
  }
  return [...found];
};
