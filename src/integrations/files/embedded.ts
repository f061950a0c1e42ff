import { mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { measure, type StoredContent } from '../../platform/measuredContent.js';
import type { Random } from '../../platform/random.js';
import { systemErrorCode } from '../../platform/systemError.js';
import { embedded, makeFolder, nullIfMissing, sync, withDiskFaults } from '../embeddedFiles.js';
import { checkKey } from './fileKey.js';
import { FileStoreFull, type FileStore, type ListedFile } from './port.js';

const fullCodes = ['ENOSPC', 'EDQUOT'];

/**
 * Files in a folder. One is written as a draft, synced and renamed, so that a kill at any moment
 * leaves it whole or absent.
 */
export const createEmbeddedFiles = ({ folder, random }: { folder: string; random: Random }): FileStore => {
  // No key begins with a dot.
  const drafts = join(folder, '.drafts');
  const pathOf = (key: string): string => join(folder, checkKey(key));

  const write = async (draft: string, content: AsyncIterable<Uint8Array>): Promise<void> => {
    const file = await open(draft, 'wx', 0o600);
    try {
      // Each chunk is on its way to the disk before the next is taken.
      for await (const chunk of content) await file.writeFile(chunk);
      await file.sync();
    } finally {
      await file.close();
    }
  };

  const store = async (key: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<StoredContent> => {
    const path = pathOf(key);
    await withDiskFaults(mkdir(drafts, { recursive: true, mode: 0o700 }));
    const draft = join(drafts, Buffer.from(random.bytes(16)).toString('hex'));
    const measured = measure(content, maxBytes);
    try {
      await write(draft, measured.content);
      await makeFolder(dirname(path));
      await rename(draft, path);
      await sync(dirname(path));
    } catch (error) {
      await rm(draft, { force: true });
      if (measured.hasFailed()) throw error;
      if (fullCodes.includes(systemErrorCode(error) ?? '')) {
        throw new FileStoreFull('the disk of the data folder is full', { cause: error });
      }
      return await withDiskFaults(Promise.reject(error as Error));
    }
    return measured.stored();
  };

  async function* filesIn(path: string): AsyncGenerator<ListedFile, void> {
    const entries = (await nullIfMissing(readdir(join(folder, path), { withFileTypes: true }))) ?? [];
    for (const entry of entries) {
      if (entry.name.startsWith('.')) continue;
      const key = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) {
        yield* filesIn(key);
        continue;
      }
      const found = await nullIfMissing(stat(join(folder, key)));
      if (found?.isFile() === true) yield { key, bytes: found.size, storedAt: found.mtimeMs };
    }
  }

  return {
    provider: embedded,
    store,
    read: (key, range) =>
      withDiskFaults(
        (async () => {
          const file = await nullIfMissing(open(pathOf(key), 'r'));
          if (file === null) return null;
          const { size } = await file.stat();
          return { bytes: size, content: file.createReadStream(range) };
        })(),
      ),
    remove: (key) =>
      withDiskFaults(
        (async () => {
          await nullIfMissing(unlink(pathOf(key)));
          await nullIfMissing(sync(dirname(pathOf(key))));
        })(),
      ),
    list: async function* list(prefix) {
      // A prefix may end in the middle of a name.
      const parent = prefix.includes('/') ? prefix.slice(0, prefix.lastIndexOf('/')) : '';
      if (parent !== '') checkKey(parent);
      for await (const file of filesIn(parent)) if (file.key.startsWith(prefix)) yield file;
    },
    signedUrl: () => Promise.resolve(null),
    removeDrafts: (before) =>
      withDiskFaults(
        (async () => {
          let removed = 0;
          for (const name of (await nullIfMissing(readdir(drafts))) ?? []) {
            const found = await nullIfMissing(stat(join(drafts, name)));
            if (found === null || found.mtimeMs >= before) continue;
            await rm(join(drafts, name), { force: true });
            removed += 1;
          }
          return removed;
        })(),
      ),
  };
};
