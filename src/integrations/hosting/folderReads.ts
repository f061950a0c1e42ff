import { statSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { createCache } from '../../platform/cache.js';
import type { Clock } from '../../platform/clock.js';

/** What is read of the folders of many projects, kept until it changes, also by another process. */
export interface FolderReads {
  /**
   * Caches what `read` yields of a project until one of the files and folders at `pathsOf` changes. null is not cached.
   */
  cached<Value>(
    pathsOf: (name: string) => Promise<readonly string[]>,
    read: (name: string) => Promise<Value | null>,
  ): (name: string) => Promise<Value | null>;
  /** Call it after a change of what is cached, and before anybody is told of the change. */
  addChange(): Promise<void>;
}

/** What was read of files and folders, and the modification time of each then. */
interface Dated<Value> {
  readonly paths: readonly string[];
  readonly modifiedAt: readonly number[];
  readonly value: Value;
  /** When the times were last compared, and how many changes there had been. */
  verified: { readonly at: number; readonly changes: number };
}

/** Much longer than the resolution of any file system's modification times. */
const minAgeMs = 3_000;

/**
 * Bounds how long a change is missed that was not added: the process was killed or its disk was full in between, or it
 * is of an earlier version.
 */
const maxUnverifiedMs = 1_000;

/**
 * Every read of a delivery block asks for the latest deployment. Asynchronous calls for these small files and folders
 * took a quarter of such a request, ten times as long as the calls themselves.
 */
const statOf = (path: string) => statSync(path, { throwIfNoEntry: false });

/** In milliseconds, 0 of what is not there. */
const modifiedAtOf = (path: string): number => statOf(path)?.mtimeMs ?? 0;

const isUnchanged = ({ paths, modifiedAt }: Dated<unknown>): boolean =>
  paths.every((path, index) => modifiedAtOf(path) === modifiedAt[index]);

/**
 * While nothing changes at all, one look at `changesFile` serves many reads: a look at each project's own files took
 * 5 % of the thread that answers.
 * @param changesFile gets a byte for each change: appending one counts them in order among all processes
 */
export const createFolderReads = ({ changesFile, clock }: { changesFile: string; clock: Clock }): FolderReads => {
  let known: number | null = null;
  const forget = (): void => {
    known = null;
  };
  const countChanges = (): number => {
    if (known === null) {
      known = statOf(changesFile)?.size ?? 0;
      // Runs once all that waited for the same event has gone on, and before another request is taken in.
      process.nextTick(forget);
    }
    return known;
  };

  return {
    cached: <Value>(
      pathsOf: (name: string) => Promise<readonly string[]>,
      read: (name: string) => Promise<Value | null>,
    ): ((name: string) => Promise<Value | null>) => {
      const cache = createCache<Dated<Value>>(5_000);
      return async (name) => {
        const verified = { at: clock.now(), changes: countChanges() };
        const stored = cache.get(name);
        if (stored !== undefined) {
          const { at, changes } = stored.verified;
          if (changes === verified.changes && verified.at - at < maxUnverifiedMs) return stored.value;
          if (isUnchanged(stored)) {
            stored.verified = verified;
            return stored.value;
          }
        }
        const paths = await pathsOf(name);
        const modifiedAt = paths.map(modifiedAtOf);
        const value = await read(name);
        // What changed just now may change again without a new modification time.
        const isOld = modifiedAt.every((at) => at > 0 && clock.now() - at > minAgeMs);
        if (isOld && value !== null) cache.set(name, { paths, modifiedAt, value, verified });
        return value;
      };
    },
    addChange: () => appendFile(changesFile, '.', { mode: 0o600 }),
  };
};
