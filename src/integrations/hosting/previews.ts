import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../platform/clock.js';
import { makeSubfolder, nullIfMissing, publishFolder, writeNewFile } from '../embeddedFiles.js';
import type { PreviewAuthor, SiteDraft } from './port.js';
import type { ServedSite } from './serve.js';
import type { Built, BuildRequest, SiteBuilder } from './site/builder.js';

/**
 * `<folder>/<hash of its secret>/preview.json`, beside `site/` and `compressed/`: whoever reads the
 * folder learns no address.
 */
interface PreviewFile {
  readonly expiresAt: string;
  readonly by: PreviewAuthor;
  readonly built: Built;
}

/** Of one project at a time; an older one ends when there are more. */
const maxPreviews = 10;

const secretHash = (secret: string): string => createHash('sha256').update(secret).digest('hex').slice(0, 32);

export interface Previews {
  /** Builds what is not built yet; the draft's files come over those of the source. */
  show(folder: string, draft: SiteDraft, source: Pick<BuildRequest, 'gitdir' | 'commit' | 'variables'>): Promise<Built>;
  /** Removes those that have ended, and those that are too many; returns how many went, and how many are left. */
  tidyUp(folder: string, max?: number): Promise<{ readonly removed: number; readonly left: number }>;
  /** The preview of a project, while it may be seen. */
  find(folder: string, project: string, secret: string): Promise<ServedSite | null>;
}

/** Drafts of sites, each in one folder that was made at once, until they end. */
export const createPreviews = (parts: {
  builder: SiteBuilder;
  clock: Clock;
  mayPreview: (by: PreviewAuthor) => Promise<boolean>;
}): Previews => {
  const { builder, clock, mayPreview } = parts;

  const read = async (path: string): Promise<PreviewFile | null> => {
    const text = await nullIfMissing(readFile(join(path, 'preview.json'), 'utf8'));
    return text === null ? null : (JSON.parse(text) as PreviewFile);
  };
  const hasEnded = ({ expiresAt }: PreviewFile): boolean => Date.parse(expiresAt) <= clock.now();

  /** Those that have ended go; of the others, the newest stay. */
  const tidyUp: Previews['tidyUp'] = async (folder, max = maxPreviews) => {
    const ended: string[] = [];
    const kept: { readonly path: string; readonly expiresAt: string }[] = [];
    for (const name of (await nullIfMissing(readdir(folder))) ?? []) {
      const path = join(folder, name);
      const preview = name.startsWith('.') ? null : await read(path);
      if (preview === null) continue;
      if (hasEnded(preview)) ended.push(path);
      else kept.push({ path, expiresAt: preview.expiresAt });
    }
    kept.sort((one, other) => (one.expiresAt < other.expiresAt ? 1 : -1));
    ended.push(...kept.slice(max).map(({ path }) => path));
    for (const path of ended) await rm(path, { recursive: true, force: true });
    return { removed: ended.length, left: Math.min(kept.length, max) };
  };

  return {
    tidyUp,
    show: async (folder, { secret, files, expiresAt, by }, source) => {
      const path = join(folder, secretHash(secret));
      const earlier = await read(path);
      if (earlier !== null) return earlier.built;
      await makeSubfolder(folder);
      await tidyUp(folder, maxPreviews - 1);
      const texts = [...files].map(([name, content]) => [name, Buffer.from(content).toString('base64')] as const);
      let built: Built | undefined;
      await publishFolder(path, secretHash(secret), async (draft) => {
        const [site, compressedFolder] = [join(draft, 'site'), join(draft, 'compressed')];
        for (const each of [site, compressedFolder]) await mkdir(each);
        built = await builder.build({ ...source, files: Object.fromEntries(texts), folder: site, compressedFolder });
        const preview: PreviewFile = { expiresAt, by, built };
        await writeNewFile(join(draft, 'preview.json'), JSON.stringify(preview));
      });
      if (built === undefined) throw new Error('a preview was not built');
      return built;
    },

    find: async (folder, project, secret) => {
      const path = join(folder, secretHash(secret));
      const preview = await read(path);
      if (preview === null || 'failure' in preview.built || hasEnded(preview) || !(await mayPreview(preview.by))) return null;
      const { files, compressed } = preview.built;
      return {
        project,
        folder: join(path, 'site'),
        compressedFolder: join(path, 'compressed'),
        compressed: new Set(compressed),
        files: new Map(Object.entries(files)),
        isUnedited: false,
        isPreview: true,
      };
    },
  };
};
