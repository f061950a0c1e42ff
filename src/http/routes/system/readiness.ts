import type { Engine } from '../../../engine.js';
import { sleep } from '../../../platform/clock.js';
import { createListeningClock } from '../../../platform/listeningClock.js';

/** One thing that requests need. */
export interface ReadinessCheck {
  readonly name: string;
  /** Why requests cannot be answered, in words for operators, or `null`. */
  readonly problem: () => Promise<string | null>;
  /** What an operator should look at although requests are answered, or `null`. Default: nothing. */
  readonly warning?: (signal: AbortSignal) => Promise<string | null>;
}

/** A check that takes longer has failed. A store that is slow, and not away, has up to 4 s. */
const timeoutMs = 5_000;

export interface CheckResult {
  readonly name: string;
  /** Absent when all is well. */
  readonly problem?: string;
  readonly warning?: string;
}

/**
 * Runs all checks at once. Of one that throws, the answer shows the kind of the error only.
 * @param signal aborted when nobody waits for the answer any more
 */
export const checkReadiness = (
  engine: Engine,
  checks: readonly ReadinessCheck[],
  signal: AbortSignal,
): Promise<readonly CheckResult[]> =>
  Promise.all(
    checks.map(async ({ name, problem, warning }) => {
      const [found, noticed] = await Promise.all([
        withinTimeout(engine, problem),
        warning === undefined ? null : withinTimeout(engine, () => warning(signal)),
      ]);
      return { name, ...(found !== null && { problem: found }), ...(noticed !== null && { warning: noticed }) };
    }),
  );

const withinTimeout = async ({ clock }: Engine, ask: () => Promise<string | null>): Promise<string | null> => {
  const answered = new AbortController();
  const late = sleep(createListeningClock(clock), timeoutMs, answered.signal).then(() => 'it does not answer');
  const found = await Promise.race([ask().catch(kindOf), late]);
  answered.abort();
  return found;
};

const kindOf = (error: unknown): string => `it cannot be asked (${error instanceof Error ? error.name : 'unknown fault'})`;
