import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../platform/clock.js';
import { ReadModelDropped, ReadModelStoreUnavailable, type DocumentWrite, type ReadModel } from '../readModelStore.js';

/** What the thread is sent: fields in lists, which are copied faster than objects. */
export interface WriteOrder {
  readonly model: ReadModel;
  readonly ids: readonly string[];
  readonly revisions: readonly bigint[];
  readonly positions: readonly bigint[];
  /** The documents as JSON; `null` deletes. */
  readonly texts: readonly (string | null)[];
  readonly checkpoint: bigint;
}

export type WriteAnswer =
  | { readonly fault?: never; readonly isAllRemoved: boolean }
  | { readonly fault: 'dropped' }
  | { readonly fault: 'unavailable' | 'other'; readonly cause: unknown };

/**
 * Writes documents on a thread of its own, with a connection of its own, which is there as long as
 * there is something to write, and a little longer.
 */
export interface WritingThread {
  /**
   * Writes documents and the checkpoint in a transaction, after those of the calls before.
   * @throws as `ReadModelStore.apply`
   */
  readonly apply: (model: ReadModel, writes: readonly DocumentWrite[], checkpoint: bigint) => Promise<void>;
  readonly isRunning: () => boolean;
  /** Removes a chunk of the rows of dropped versions. Resolves with whether nothing was left. */
  readonly removeSome: () => Promise<boolean>;
  /**
   * Calls `write` once the thread writes nothing, so that it finds the file locked by no part of this
   * process.
   */
  readonly between: <Result>(write: () => Promise<Result>) => Promise<Result>;
  /** Resolves after what is being written. */
  readonly close: () => Promise<void>;
}

/** How long the thread waits for more. */
const lingerMs = 2_000;

/** @param options `program`: the compiled file of `writingProgram` */
export const createWritingThread = ({ program, file, clock }: { program: string; file: string; clock: Clock }): WritingThread => {
  let worker: Worker | null = null;
  let working: Promise<unknown> | null = null;
  let cancelEnd = (): void => undefined;

  // Nothing may come between the look at `working` and the write.
  const between = async <Result>(write: () => Promise<Result>): Promise<Result> => {
    while (working !== null) await working;
    return write();
  };

  const end = async (): Promise<void> => {
    cancelEnd();
    const ending = worker;
    worker = null;
    if (ending === null) return;
    const ended = once(ending, 'exit');
    ending.ref();
    ending.postMessage('close');
    await ended;
  };

  const send = async (order: WriteOrder | 'remove some'): Promise<WriteAnswer> => {
    cancelEnd();
    const thread = (worker ??= new Worker(program, { workerData: { file } }));
    try {
      thread.ref();
      thread.postMessage(order);
      // Rejects when the thread ends with an error.
      const [answer] = (await once(thread, 'message')) as [WriteAnswer];
      return answer;
    } catch (fault) {
      worker = null;
      throw fault;
    } finally {
      // Only work keeps the process alive.
      thread.unref();
      cancelEnd = clock.schedule(lingerMs, () => void end());
    }
  };

  const begin = (order: WriteOrder | 'remove some'): Promise<WriteAnswer> => {
    const sent = send(order);
    const done = (): void => {
      working = null;
    };
    working = sent.then(done, done);
    return sent;
  };

  const toFault = ({ fault, cause }: Extract<WriteAnswer, { cause: unknown }>): unknown =>
    fault === 'other' ? cause : new ReadModelStoreUnavailable('the read-model store cannot be used', { cause });

  return {
    between,
    isRunning: () => worker !== null,
    apply: async (model, writes, checkpoint) => {
      const answer = await between(() =>
        begin({
          model,
          ids: writes.map(({ id }) => id),
          revisions: writes.map(({ revision }) => revision),
          positions: writes.map(({ position }) => position),
          texts: writes.map(({ body }) => (body === null ? null : JSON.stringify(body))),
          checkpoint,
        }),
      );
      if (answer.fault === 'dropped') throw new ReadModelDropped(model);
      if (answer.fault !== undefined) throw toFault(answer);
    },
    removeSome: async () => {
      const answer = await between(() => begin('remove some'));
      if (answer.fault === undefined) return answer.isAllRemoved;
      throw answer.fault === 'dropped' ? new TypeError('no version was named') : toFault(answer);
    },
    close: () => between(end),
  };
};
