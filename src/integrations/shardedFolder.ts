import { hash } from 'node:crypto';
import { opendir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '../platform/systemError.js';
import { isPlainName, makeFolder, nullIfMissing, sync } from './embeddedFiles.js';
import { createCache } from '../platform/cache.js';

/**
 * Entries by name, each in one of 256 subfolders that follows from the name alone: with a million,
 * none of these is too large to be listed, and nothing that looks for one entry lists any.
 */
export interface ShardedFolder {
  /** Where the entry belongs, once the folder has been moved over. The name is a plain one (`isPlainName`). */
  pathOf(name: string): string;
  /** As `pathOf`, after an entry that an earlier version left beside the subfolders has been moved there. */
  locate(name: string): Promise<string>;
  /** The names of all subfolders, whether they are there yet or not. */
  readonly shards: readonly string[];
  /** The names of the entries in a subfolder. */
  namesIn(shard: string): Promise<readonly string[]>;
  /**
   * Moves all entries that an earlier version left; a kill at any moment leaves each at one of its two
   * places. Several processes may do it at the same time, and any continues what another began.
   * @returns how many it moved
   */
  moveOver(signal: AbortSignal): Promise<number>;
}

/** No plain name begins like this, so that none of an earlier version is taken for one of these. */
const shards = Array.from({ length: 256 }, (_, number) => `_${number.toString(16).padStart(2, '0')}`);

const shardOf = (name: string): string => `_${hash('sha256', name).slice(0, 2)}`;

/** Is there once nothing is left to be moved. */
const movedName = '.sharded';

/** What an attempt of an earlier version left of a folder: its name and the hash of its marker. */
const formerDraft = /^\..+\.[0-9a-f]{16}\.\w+$/;

/** @param suffix what the names of folders end with. Default: nothing */
export const createShardedFolder = ({ folder, suffix = '' }: { folder: string; suffix?: string }): ShardedFolder => {
  const movedFile = join(folder, movedName);
  let isMoved = false;

  // Every read of a delivery block asks for that of its project, several times.
  const paths = createCache<string>(5_000);
  const pathOf = (name: string): string => {
    const known = paths.get(name);
    if (known !== undefined) return known;
    const path = join(folder, shardOf(name), `${name}${suffix}`);
    paths.set(name, path);
    return path;
  };

  const nameOf = (entry: string): string | null => {
    const name = entry.slice(0, entry.length - suffix.length);
    return entry.endsWith(suffix) && isPlainName(name) ? name : null;
  };

  /** Whether there was something to move. */
  const move = async (name: string): Promise<boolean> => {
    const former = join(folder, `${name}${suffix}`);
    if ((await nullIfMissing(stat(former))) === null) return false;
    await makeFolder(join(folder, shardOf(name)));
    try {
      await rename(former, pathOf(name));
      return true;
    } catch (error) {
      // Moved by another process; or made anew at its place, which is the one that counts.
      if (['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(systemErrorCode(error) ?? '')) return false;
      throw error;
    }
  };

  const moveAll = async (signal: AbortSignal): Promise<number> => {
    let moved = 0;
    // Read in small parts: a list of a million names would take a second and 100 MB.
    for await (const { name: entry } of await opendir(folder)) {
      if (signal.aborted) break;
      const name = nameOf(entry);
      if (name !== null && (await move(name))) moved += 1;
      else if (formerDraft.test(entry)) await rm(join(folder, entry), { recursive: true, force: true });
    }
    return moved;
  };

  return {
    pathOf,
    locate: async (name) => {
      isMoved ||= (await nullIfMissing(stat(movedFile))) !== null;
      if (!isMoved) await move(name);
      return pathOf(name);
    },
    shards,
    namesIn: async (shard) => {
      const entries = (await nullIfMissing(readdir(join(folder, shard)))) ?? [];
      return entries.map(nameOf).filter((name) => name !== null);
    },
    moveOver: async (signal) => {
      if ((await nullIfMissing(stat(movedFile))) !== null) return 0;
      await makeFolder(folder);
      let moved = 0;
      // A listing may miss what is there while the folder changes, so that the last one finds nothing.
      for (let found = -1; found !== 0;) {
        found = await moveAll(signal);
        moved += found;
        if (signal.aborted) return moved;
      }
      for (const shard of shards) await nullIfMissing(sync(join(folder, shard)));
      await sync(folder);
      // Made in one step, because others may end the same move at the same moment.
      await writeFile(movedFile, '', { flag: 'a' });
      await sync(folder);
      return moved;
    },
  };
};

/** The bare repositories of the embedded source host. */
export const repositoriesIn = (folder: string): ShardedFolder => createShardedFolder({ folder, suffix: '.git' });
