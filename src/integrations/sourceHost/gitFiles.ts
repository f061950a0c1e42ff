import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { nullIfMissing } from '../embeddedFiles.js';
import type { GitFile } from './port.js';

const objectId = /^[0-9a-f]{40}$/;
/** More refs than any website has; each takes a line of the answer. */
const maxRefs = 10_000;
/** What the service keeps in other refs is nobody's to see. */
const isPublic = /^refs\/(?:heads|tags)\//;
const maxRefDepth = 10;
const maxPackedRefsBytes = 4 * 1024 * 1024;

const immutable: readonly (readonly [RegExp, string])[] = [
  [/^objects\/[0-9a-f]{2}\/[0-9a-f]{38}$/, 'application/x-git-loose-object'],
  [/^objects\/pack\/pack-[0-9a-f]{40}\.pack$/, 'application/x-git-packed-objects'],
  [/^objects\/pack\/pack-[0-9a-f]{40}\.idx$/, 'application/x-git-packed-objects-toc'],
];

const text = (content: string): GitFile => {
  const bytes = Buffer.from(content);
  return {
    contentType: 'text/plain; charset=utf-8',
    isImmutable: false,
    bytes: bytes.length,
    content: bytes,
    close: () => Promise.resolve(),
  };
};

/**
 * A file of a bare repository as the dumb protocol serves it. Only the names that the protocol knows
 * are looked for, so none leads out of the repository or to its configuration.
 */
export const gitFile = async (gitdir: string, path: string): Promise<GitFile | null> => {
  if (path === 'HEAD') {
    const head = await nullIfMissing(readFile(join(gitdir, 'HEAD'), 'utf8'));
    return head === null ? null : text(head);
  }
  if (path === 'info/refs') return text(await refsIn(gitdir));
  if (path === 'objects/info/packs') return text(await packsIn(gitdir));
  const [, contentType] = immutable.find(([pattern]) => pattern.test(path)) ?? [];
  if (contentType === undefined) return null;
  const file = await nullIfMissing(open(join(gitdir, path), 'r'));
  if (file === null) return null;
  const { size } = await file.stat();
  return {
    contentType,
    isImmutable: true,
    bytes: size,
    content: file.createReadStream(),
    close: () => file.close(),
  };
};

/** As `git update-server-info` writes them, but never out of date. */
const refsIn = async (gitdir: string): Promise<string> => {
  const refs = new Map<string, string>();
  for (const line of (await packedRefsIn(gitdir)).split('\n')) {
    const [id = '', name = ''] = line.split(' ');
    if (objectId.test(id) && isPublic.test(name) && refs.size < maxRefs) refs.set(name, id);
  }
  for (const folder of ['refs/heads', 'refs/tags']) await addLooseRefs(gitdir, folder, refs);
  const lines = [...refs].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, id]) => `${id}\t${name}\n`);
  return lines.join('');
};

const packedRefsIn = async (gitdir: string): Promise<string> => {
  const file = join(gitdir, 'packed-refs');
  const found = await nullIfMissing(stat(file));
  if (found === null || found.size > maxPackedRefsBytes) return '';
  return (await nullIfMissing(readFile(file, 'utf8'))) ?? '';
};

const addLooseRefs = async (gitdir: string, folder: string, refs: Map<string, string>, depth = 0): Promise<void> => {
  const entries = (await nullIfMissing(readdir(join(gitdir, folder), { withFileTypes: true }))) ?? [];
  for (const entry of entries) {
    const name = `${folder}/${entry.name}`;
    if (refs.size >= maxRefs) return;
    if (entry.isDirectory() && depth < maxRefDepth) await addLooseRefs(gitdir, name, refs, depth + 1);
    if (!entry.isFile() || entry.name.endsWith('.lock')) continue;
    const id = (await nullIfMissing(readFile(join(gitdir, name), 'utf8')))?.trim() ?? '';
    if (objectId.test(id)) refs.set(name, id);
  }
};

const packsIn = async (gitdir: string): Promise<string> => {
  const names = (await nullIfMissing(readdir(join(gitdir, 'objects/pack')))) ?? [];
  // Without its index a pack is still being written.
  const packs = names.filter((name) => /^pack-[0-9a-f]{40}\.pack$/.test(name) && names.includes(name.replace(/pack$/, 'idx')));
  return `${packs.map((name) => `P ${name}\n`).join('')}\n`;
};
