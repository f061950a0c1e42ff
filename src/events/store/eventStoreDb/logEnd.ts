import type { Clock } from '../../../platform/clock.js';
import type { Logger } from '../../../platform/logger.js';
import { createSharedCalls } from '../../../platform/sharedCalls.js';
import type { LiveLog } from '../liveLog.js';

/**
 * Waits until the live log has what a read must see. All reads that wait ask the leader once for
 * the end of the log, after each of them came in (a read index, as in Raft). Each question waits for
 * a turn of the event loop, so that the reads that follow one answer share the next question.
 */
export interface LogEnd {
  /** `reach` of `createStreamsInUse`. */
  reach(position: bigint | null): boolean | Promise<boolean>;
}

/** After that the stream itself is read, which takes the server's time and not more. */
const LATE_MS = 200;

interface Waiting {
  readonly position: bigint;
  readonly reached: () => void;
}

/** @param lastPosition asks the leader */
export const createLogEnd = (parts: {
  readonly live: LiveLog;
  readonly lastPosition: () => Promise<bigint>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'> | undefined;
}): LogEnd => {
  const { live, lastPosition, clock, logger } = parts;
  const sharedQuestions = createSharedCalls();
  let waiting: Waiting[] = [];
  /** The live log was too late for this position, and nobody waits for it again. */
  let lateFor = 0n;
  /** The log was restored from a backup, so that the live log has what is not there any more. */
  let isSetBack = false;

  live.listen({
    added: () => {
      if (waiting.length === 0) return;
      const head = live.head();
      const ready = waiting.filter(({ position }) => position <= head);
      waiting = waiting.filter(({ position }) => position > head);
      for (const { reached } of ready) reached();
    },
  });

  const comeTo = (position: bigint): boolean | Promise<boolean> => {
    if (position <= live.head()) return true;
    if (live.head() < lateFor) return false;
    return new Promise((resolve) => {
      const cancel = clock.schedule(LATE_MS, () => {
        waiting = waiting.filter((each) => each !== mine);
        if (position > lateFor) lateFor = position;
        resolve(false);
      });
      const mine: Waiting = {
        position,
        reached: () => {
          cancel();
          resolve(true);
        },
      };
      waiting.push(mine);
    });
  };

  const comeToEnd = async (): Promise<boolean> => {
    const known = live.head();
    const end = await lastPosition();
    if (end >= known) return comeTo(end);
    isSetBack = true;
    logger?.warn(
      { end: String(end), known: String(known) },
      'the event log is shorter than it was; if it was restored from a backup, restart this process',
    );
    return false;
  };

  return {
    reach: (position) => {
      if (isSetBack || live.start() === null || live.head() < lateFor) return false;
      if (position !== null) return comeTo(position);
      return sharedQuestions.gather('end', comeToEnd);
    },
  };
};
