import type { Clock } from '../../../platform/clock.js';
import { EventStoreError, OutcomeUnknown } from '../eventStore.js';
import { isBusy, isDiskFault } from './database.js';
import type { LogWriter, Transaction, WrittenEvent } from './logWriter.js';

/** Makes all writes that wait in one turn of the event loop, or in some of them under load, in one transaction. */
export interface GroupCommit {
  /**
   * Resolves when the write is durable. `prepare` is called at once; what it throws becomes a
   * rejection.
   */
  write<Result>(prepare: () => Write<Result>): Promise<Result>;
  /** To be called when another process has committed: a write that waits for its lock begins at once. */
  lockReleased(): void;
  /** Resolves when no write is waiting. */
  drained(): Promise<void>;
}

/** @throws EventStoreError: nothing of this write was made; the transaction goes on */
export type Write<Result> = (transaction: Transaction, now: number) => Result;

/**
 * Pause between two attempts to get a lock that another process holds, unless its release is noticed
 * before. Requests are answered meanwhile, and what they write joins the transaction.
 */
const LOCK_PAUSE_MS = 5;
/**
 * How long a write waits for the lock. The number of attempts bounds the wait too, in case the
 * wall clock is set back.
 */
const LOCK_TIMEOUT_MS = 1_500;
const MAX_LOCK_ATTEMPTS = LOCK_TIMEOUT_MS / LOCK_PAUSE_MS;

/** Turns of the event loop in a row that a commit waits for at most. */
const MAX_TURNS = 8;
/**
 * Under load a commit waits until there is this share of as many writes as the last one had, and for so many pauses at
 * most: fewer writes would come at the same cost. Below so many writes a commit waits for nothing.
 */
const LOAD = { share: 0.75, pauses: 3, pauseMs: 1, fromWrites: 8 };

interface Waiting {
  /** Returns what answers it once the transaction is committed. */
  readonly write: Write<() => void>;
  readonly reject: (error: unknown) => void;
  readonly deadline: number;
  attempts: number;
}

export const createGroupCommit = ({
  writer,
  clock,
  toFault,
  onCommit,
}: {
  writer: LogWriter;
  clock: Clock;
  /** What SQLite threw, as the port's. */
  toFault: (error: unknown) => unknown;
  /** Called after each commit that appended something. */
  onCommit: (written: readonly WrittenEvent[]) => void;
}): GroupCommit => {
  let waiting: Waiting[] = [];
  let flushing = false;
  /** Writes that the last commit had. */
  let lastCount = 0;
  /** Set while the lock is waited for. */
  let cancelPause: (() => void) | null = null;
  const drains: (() => void)[] = [];

  const areMoreExpected = (): boolean => lastCount >= LOAD.fromWrites && waiting.length < LOAD.share * lastCount;

  /** A commit costs as much as several writes: while each turn brings more of them, or more are expected, it waits. */
  const gather = (pauses: number, turns = MAX_TURNS): void => {
    const count = waiting.length;
    const gatherOn = (): void => {
      gather(pauses - 1);
    };
    setImmediate(() => {
      if (waiting.length > count && turns > 1) gather(pauses, turns - 1);
      else if (pauses > 0 && areMoreExpected()) clock.schedule(LOAD.pauseMs, gatherOn, { keepAlive: true });
      else flush();
    });
  };

  const flush = (): void => {
    cancelPause = null;
    const transaction = begin();
    if (transaction === 'locked') {
      cancelPause = clock.schedule(LOCK_PAUSE_MS, flush, { keepAlive: true });
      return;
    }
    flushing = false;
    const batch = waiting;
    waiting = [];
    lastCount = batch.length;
    if (transaction !== null) writeAll(transaction, batch);
    for (const drained of drains.splice(0)) drained();
  };

  /**
   * The transaction; `locked` when another process holds the lock and some write may still wait;
   * null when none is left to write.
   */
  const begin = (): Transaction | 'locked' | null => {
    try {
      return writer.begin();
    } catch (error) {
      const now = clock.now();
      const stillWaiting = isBusy(error)
        ? waiting.filter((entry) => (entry.attempts += 1) < MAX_LOCK_ATTEMPTS && now < entry.deadline)
        : [];
      for (const entry of waiting) if (!stillWaiting.includes(entry)) entry.reject(toFault(error));
      waiting = stillWaiting;
      return stillWaiting.length > 0 ? 'locked' : null;
    }
  };

  const writeAll = (transaction: Transaction, batch: readonly Waiting[]): void => {
    let committing = false;
    try {
      const outcomes = batch.map(({ write }) => attempt(transaction, write));
      committing = true;
      transaction.commit();
      // Answered only now that everything is durable.
      for (const [index, { reject }] of batch.entries()) {
        const outcome = outcomes[index];
        if (outcome instanceof EventStoreError) reject(outcome);
        else outcome?.();
      }
    } catch (error) {
      const fault =
        committing && isDiskFault(error)
          ? new OutcomeUnknown('the disk failed while the append was being made durable', { cause: error })
          : toFault(error);
      for (const { reject } of batch) reject(fault);
      transaction.rollback();
      return;
    }
    const written = transaction.written();
    if (written.length > 0) onCommit(written);
  };

  /** A refusal concerns one write; any other fault ends the transaction. */
  const attempt = (transaction: Transaction, write: Waiting['write']): (() => void) | EventStoreError => {
    try {
      return write(transaction, clock.now());
    } catch (error) {
      if (error instanceof EventStoreError) return error;
      throw error;
    }
  };

  return {
    write: (prepare) =>
      new Promise((resolve, reject) => {
        const write = prepare();
        const answered: Waiting['write'] = (transaction, now) => {
          const result = write(transaction, now);
          return () => {
            resolve(result);
          };
        };
        waiting.push({ write: answered, reject, deadline: clock.now() + LOCK_TIMEOUT_MS, attempts: 0 });
        if (flushing) return;
        flushing = true;
        gather(LOAD.pauses);
      }),

    lockReleased: () => {
      if (cancelPause === null) return;
      cancelPause();
      flush();
    },

    drained: () =>
      new Promise((resolve) => {
        if (flushing) drains.push(resolve);
        else resolve();
      }),
  };
};
