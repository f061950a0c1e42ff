import type { Clock } from '../../platform/clock.js';
import type { ModelCheckpoint, ReadModel, ReadModelStore } from '../store/readModelStore.js';

/**
 * Stores positions that read models reached without a change of theirs: for all runners of a process
 * in one write, however many commits and models there were.
 */
export interface Checkpoints {
  /** Stores the position a little later, or a later one of the model by then. */
  move(model: ReadModel, position: bigint, onFault: (fault: unknown) => void): void;
  /** Drops what is not stored yet of the model. */
  cancel(model: ReadModel): void;
}

/** Lists may wait for a checkpoint that moves without documents, so it is stored after this time. */
const delayMs = 50;

const keyOf = ({ name, version }: ReadModel): string => JSON.stringify([name, version]);

interface Move extends ModelCheckpoint {
  readonly onFault: (fault: unknown) => void;
}

export const createCheckpoints = ({
  readModels,
  clock,
}: {
  readonly readModels: ReadModelStore;
  readonly clock: Clock;
}): Checkpoints => {
  /** By the name and version of the model. */
  let moves = new Map<string, Move>();
  let isScheduled = false;

  const store = (): void => {
    isScheduled = false;
    if (moves.size === 0) return;
    const stored = [...moves.values()];
    moves = new Map();
    readModels.advance(stored).catch((fault: unknown) => {
      for (const { onFault } of stored) onFault(fault);
    });
  };

  return {
    move: (model, position, onFault) => {
      moves.set(keyOf(model), { model, position, onFault });
      if (isScheduled) return;
      isScheduled = true;
      clock.schedule(delayMs, store);
    },
    cancel: (model) => {
      moves.delete(keyOf(model));
    },
  };
};
