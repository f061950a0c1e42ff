import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../platform/clock.js';
import { ReadModelDropped, type DocumentWrite, type ReadModel } from '../readModelStore.js';
import { toUnavailable } from './database.js';

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

/** What waits for an answer of the thread. */
interface Pending {
  readonly resolve: (answer: WriteAnswer) => void;
  readonly reject: (fault: unknown) => void;
}

interface RunningThread {
  readonly worker: Worker;
  /** The thread answers in order. */
  readonly pending: Pending[];
}

/** @param program the compiled file of `writingProgram` */
export const createWritingThread = ({ program, file, clock }: { program: string; file: string; clock: Clock }): WritingThread => {
  let running: RunningThread | null = null;
  let cancelEnd = (): void => undefined;
  /** Resolves once the thread has answered all that it was sent. */
  let answered: Promise<unknown> = Promise.resolve();
  /** Resolves once no other write of the process is under way or waits for the thread. */
  let othersDone: Promise<unknown> = Promise.resolve();

  const between = <Result>(write: () => Promise<Result>): Promise<Result> => {
    const result = answered.then(write);
    othersDone = bothSettled(othersDone, result);
    return result;
  };

  const start = (): RunningThread => {
    const worker = new Worker(program, { workerData: { file } });
    const started: RunningThread = { worker, pending: [] };
    const failed = (fault: unknown): void => {
      if (running === started) running = null;
      for (const { reject } of started.pending.splice(0)) reject(fault);
    };
    worker.on('message', (answer: WriteAnswer) => {
      started.pending.shift()?.resolve(answer);
      if (started.pending.length > 0) return;
      // Only work keeps the process alive.
      worker.unref();
      cancelEnd = clock.schedule(lingerMs, () => void end());
    });
    worker.on('error', failed);
    worker.on('exit', () => {
      failed(new Error('the thread that writes read models has ended'));
    });
    return started;
  };

  const end = async (): Promise<void> => {
    cancelEnd();
    const ending = running?.worker;
    running = null;
    if (ending === undefined) return;
    const ended = once(ending, 'exit');
    ending.ref();
    ending.postMessage('close');
    await ended;
  };

  const send = (order: WriteOrder | 'remove some'): Promise<WriteAnswer> =>
    new Promise((resolve, reject) => {
      cancelEnd();
      const { worker, pending } = (running ??= start());
      worker.ref();
      worker.postMessage(order);
      pending.push({ resolve, reject });
    });

  /** Sends it behind what the thread has, so that it need not wait for this one. */
  const sendInTurn = (orderOf: () => WriteOrder | 'remove some'): Promise<WriteAnswer> => {
    const answer = othersDone.then(() => send(orderOf()));
    answered = bothSettled(answered, answer);
    return answer;
  };

  const toFault = ({ fault, cause }: Extract<WriteAnswer, { cause: unknown }>): unknown =>
    fault === 'other' ? cause : toUnavailable(file, cause);

  return {
    between,
    isRunning: () => running !== null,
    apply: async (model, writes, checkpoint) => {
      const answer = await sendInTurn(() => ({
        model,
        ids: writes.map(({ id }) => id),
        revisions: writes.map(({ revision }) => revision),
        positions: writes.map(({ position }) => position),
        texts: writes.map(({ body }) => (body === null ? null : JSON.stringify(body))),
        checkpoint,
      }));
      if (answer.fault === 'dropped') throw new ReadModelDropped(model);
      if (answer.fault !== undefined) throw toFault(answer);
    },
    removeSome: async () => {
      const answer = await sendInTurn(() => 'remove some');
      if (answer.fault === undefined) return answer.isAllRemoved;
      throw answer.fault === 'dropped' ? new TypeError('no version was named') : toFault(answer);
    },
    close: () => between(end),
  };
};

const bothSettled = async (...promises: readonly Promise<unknown>[]): Promise<void> => {
  await Promise.allSettled(promises);
};
