import type { FileStore } from '../integrations/files/port.js';

/** As files and the variants of images are named: a bucket may hold what is not ours. */
const ours = /^[0-9a-z]{26}\/[0-9a-f-]{36}(?:-\d+-[a-z]+)?$/;

export const isOurFile = (key: string): boolean => ours.test(key);

/** Copies the files that `to` does not have, or has with another size; resolves with how many. */
export const copyFiles = async (from: FileStore, to: FileStore): Promise<number> => {
  const there = new Map<string, number>();
  for await (const { key, bytes } of to.list('')) there.set(key, bytes);
  let copied = 0;
  for await (const { key, bytes } of from.list('')) {
    if (!isOurFile(key) || there.get(key) === bytes) continue;
    const found = await from.read(key);
    // It was removed since it was listed.
    if (found === null) continue;
    await to.store(key, found.content, Number.MAX_SAFE_INTEGER);
    copied += 1;
  }
  return copied;
};
