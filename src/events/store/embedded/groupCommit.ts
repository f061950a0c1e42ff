import type { Clock } from '../../../platform/clock.js';
import { EventStoreError, OutcomeUnknown, type AppendResult } from '../eventStore.js';
import { faultOf, isBusy, isDiskFault } from './database.js';
import type { Append, LogWriter, Transaction } from './logWriter.js';

/** Writes appends, all that wait in one turn of the event loop in one transaction. */
export interface GroupCommit {
  /** Resolves when the append is durable. What `prepare` throws, called at once, becomes a rejection. */
  append(prepare: () => Append): Promise<AppendResult>;
  /** Resolves when no append is waiting. */
  drained(): Promise<void>;
}

/** Between two looks at a lock that another process holds, in ms. */
const LOCK_PAUSE_MS = 5;
/** After this an append gives up. The number of looks bounds the wait too, should the wall clock be set back meanwhile. */
const LOCK_PATIENCE_MS = 1_500;
const LOCK_LOOKS = LOCK_PATIENCE_MS / LOCK_PAUSE_MS;

interface Waiting {
  readonly append: Append;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
  readonly giveUpAt: number;
  looks: number;
}

export const createGroupCommit = ({
  writer,
  clock,
  onCommit,
}: {
  writer: LogWriter;
  clock: Clock;
  /** Called after each commit with the last position of the log. */
  onCommit: (head: number) => void;
}): GroupCommit => {
  let waiting: Waiting[] = [];
  let flushing = false;
  const drains: (() => void)[] = [];

  const flush = (): void => {
    const transaction = begin();
    if (transaction === 'locked') {
      clock.schedule(LOCK_PAUSE_MS, flush, { keepAlive: true });
      return;
    }
    flushing = false;
    const batch = waiting;
    waiting = [];
    if (transaction !== null) write(transaction, batch);
    for (const drained of drains.splice(0)) drained();
  };

  /** The transaction, `locked` when another process holds the lock and some append has patience left, or null when none is waiting any more. */
  const begin = (): Transaction | 'locked' | null => {
    try {
      return writer.begin();
    } catch (error) {
      const now = clock.now();
      const patient = isBusy(error) ? waiting.filter((entry) => (entry.looks += 1) < LOCK_LOOKS && now < entry.giveUpAt) : [];
      for (const entry of waiting) if (!patient.includes(entry)) entry.reject(faultOf(error));
      waiting = patient;
      return patient.length > 0 ? 'locked' : null;
    }
  };

  const write = (transaction: Transaction, batch: readonly Waiting[]): void => {
    let committing = false;
    try {
      const outcomes = batch.map(({ append }) => attempt(transaction, append));
      committing = true;
      transaction.commit();
      // Nobody is told before everything is durable.
      for (const [index, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[index];
        if (outcome instanceof EventStoreError) reject(outcome);
        else if (outcome !== undefined) resolve(outcome);
      }
    } catch (error) {
      const fault =
        committing && isDiskFault(error)
          ? new OutcomeUnknown('the disk failed while the append was being made durable', { cause: error })
          : faultOf(error);
      for (const { reject } of batch) reject(fault);
      transaction.rollback();
      return;
    }
    onCommit(transaction.position());
  };

  /** A refusal concerns one append; any other fault ends the transaction. */
  const attempt = (transaction: Transaction, append: Append): AppendResult | EventStoreError => {
    try {
      return transaction.append(append, clock.now());
    } catch (error) {
      if (error instanceof EventStoreError) return error;
      throw error;
    }
  };

  return {
    append: (prepare) =>
      new Promise((resolve, reject) => {
        waiting.push({ append: prepare(), resolve, reject, giveUpAt: clock.now() + LOCK_PATIENCE_MS, looks: 0 });
        if (flushing) return;
        flushing = true;
        setImmediate(flush);
      }),

    drained: () =>
      new Promise((resolve) => {
        if (flushing) drains.push(resolve);
        else resolve();
      }),
  };
};
