import type { Engine } from '../../../engine.js';
import { sleep } from '../../../platform/clock.js';

/**
 * One thing that must be right for requests to be answered: what is wrong with it, in words for
 * operators, or `null`.
 */
export interface ReadinessCheck {
  readonly name: string;
  readonly problem: () => Promise<string | null>;
}

/** A check that takes longer has failed. */
const timeoutMs = 2_000;

export interface CheckResult {
  readonly name: string;
  /** Absent when all is well. */
  readonly problem?: string;
}

/** Runs all checks at once. Of one that throws, the answer shows the kind of the error only. */
export const checkReadiness = (engine: Engine, checks: readonly ReadinessCheck[]): Promise<readonly CheckResult[]> =>
  Promise.all(
    checks.map(async ({ name, problem }) => {
      const answered = new AbortController();
      const late = sleep(engine.clock, timeoutMs, answered.signal).then(() => 'it does not answer');
      const found = await Promise.race([problem().catch(kindOf), late]);
      answered.abort();
      return { name, ...(found !== null && { problem: found }) };
    }),
  );

const kindOf = (error: unknown): string => `it cannot be asked (${error instanceof Error ? error.name : 'unknown fault'})`;
