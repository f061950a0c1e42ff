import type { Engine } from '../engine.js';
import { Refused } from '../commands/refusal.js';
import { isSameStanding, type Standing } from './auth/standing.js';

/** Watches over an event stream, whose reader may lose access while it is open. */
export interface StreamGuard {
  /**
   * Whether the reader may be sent something, as of now: they still stand as they did when the
   * stream was opened.
   * @throws IdentityUnavailable, EventStoreUnavailable: it could not be checked, so nothing is sent
   */
  readonly mayGoOn: () => Promise<boolean>;
  /**
   * Resolves as soon as the reader may not be sent anything any more, by whatever process that was
   * decided, or when `signal` is aborted.
   * @throws as `mayGoOn`
   */
  readonly lost: (signal: AbortSignal) => Promise<void>;
}

/**
 * @param opened how the reader stood when the stream was opened
 * @param findStanding tells `note` of every stream that the standing rests on
 */
export const createStreamGuard = (
  engine: Pick<Engine, 'watch'>,
  opened: Standing,
  findStanding: (note: (stream: string) => void) => Promise<Standing>,
): StreamGuard => {
  const check = async (note: (stream: string) => void = () => undefined): Promise<boolean> => {
    try {
      return isSameStanding(opened, await findStanding(note));
    } catch (error) {
      if (error instanceof Refused) return false;
      throw error;
    }
  };

  /** Until the reader has lost access, the streams to watch are others, or the signal is aborted. */
  const watch = async (streams: ReadonlySet<string>, signal: AbortSignal): Promise<ReadonlySet<string> | null> => {
    const changes = await engine.watch([...streams], signal);
    do {
      // Also before the first change: it may have come before the watch began.
      const needed = new Set<string>();
      if (!(await check((stream) => needed.add(stream)))) return null;
      if (!isSubset(needed, streams)) return needed;
    } while ((await changes.next()).done !== true);
    return null;
  };

  return {
    mayGoOn: () => check(),
    lost: async (signal) => {
      // A public route has nobody who could lose access.
      if (opened.caller === undefined) return onceAborted(signal);
      const first = new Set<string>();
      if (!(await check((stream) => first.add(stream)))) return;
      for (let streams: ReadonlySet<string> | null = first; streams !== null;) {
        const enough = new AbortController();
        try {
          streams = await watch(streams, AbortSignal.any([signal, enough.signal]));
        } finally {
          enough.abort();
        }
      }
    },
  };
};

const isSubset = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean => [...one].every((name) => other.has(name));

/** Resolves when the signal is aborted. */
const onceAborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    const finish = (): void => {
      resolve(undefined);
    };
    if (signal.aborted) finish();
    else signal.addEventListener('abort', finish, { once: true });
  });
