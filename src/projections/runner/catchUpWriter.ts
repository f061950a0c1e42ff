import type { Clock } from '../../platform/clock.js';
import type { DocumentWrite, ReadModel, ReadModelStore } from '../store/readModelStore.js';
import { writeDocuments } from './foldDocuments.js';

export interface CatchUpWriterOptions {
  /**
   * How long a write may take, in ms: embedded, no other process writes meanwhile, and nothing else in
   * this one runs, unless it is in bulk. Longer ones are fewer and take less of all. Default: 20, and
   * 50 in bulk
   */
  readonly writeMs?: number;
  /** In the first writes, until it is known how long they take. Default: 500 */
  readonly documentsPerWrite?: number;
}

/**
 * The writes of all read models that are caught up. They follow one another, so that what one takes is its
 * own time. Of those in bulk the next one is handed over while one is under way, so that the thread that
 * writes need not wait for this one.
 */
export interface CatchUpWriter {
  /** As many documents as take about `writeMs`. */
  documentsPerWrite(): number;
  /** Whether the thread that writes in bulk has no write to go on with. */
  isIdle(): boolean;
  /** @param onWritten told which documents the store cannot hold, before the write is done */
  write(
    into: { readonly model: ReadModel; readonly inBulk: boolean },
    writes: readonly DocumentWrite[],
    checkpoint: bigint,
    onWritten: (refused: readonly string[]) => void,
  ): Promise<void>;
}

/** Documents in a write, at least and at most. */
export const minPerWrite = 100;
const maxPerWrite = 10_000;

export const createCatchUpWriter = (
  { readModels, clock }: { readonly readModels: ReadModelStore; readonly clock: Clock },
  { writeMs, documentsPerWrite: initial = 500 }: CatchUpWriterOptions,
): CatchUpWriter => {
  let documentsPerWrite = initial;
  let lastWrite: Promise<void> = Promise.resolve();
  let writeBefore: Promise<void> = lastWrite;
  let lastWriteEndedAt = 0;
  let writesUnderWay = 0;

  const writeTimed: CatchUpWriter['write'] = async ({ model, inBulk }, writes, checkpoint, onWritten) => {
    const [handedOverAt, isWhole] = [clock.now(), writes.length >= documentsPerWrite];
    const refused = await writeDocuments(readModels, model, writes, checkpoint, { inBulk });
    const took = clock.now() - Math.max(handedOverAt, lastWriteEndedAt);
    lastWriteEndedAt = clock.now();
    const maxMs = writeMs ?? (inBulk ? 50 : 20);
    if (took > maxMs) documentsPerWrite = Math.max(minPerWrite, documentsPerWrite / 2);
    else if (isWhole && took < maxMs / 2) documentsPerWrite = Math.min(maxPerWrite, documentsPerWrite * 2);
    onWritten(refused);
  };

  return {
    documentsPerWrite: () => documentsPerWrite,
    isIdle: () => writesUnderWay < 2,
    write: (into, writes, checkpoint, onWritten) => {
      const written = (into.inBulk ? writeBefore : lastWrite).then(() => writeTimed(into, writes, checkpoint, onWritten));
      writesUnderWay += 1;
      writeBefore = lastWrite;
      const end = (): void => {
        writesUnderWay -= 1;
      };
      lastWrite = written.then(end, end);
      return written;
    },
  };
};
