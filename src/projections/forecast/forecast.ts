import type { PaceDocument } from './forecast.projection.js';

/** Fewer cases say nothing. */
export const minCases = 5;

/** How long past deliveries took to a step, in milliseconds. */
export interface Durations {
  readonly cases: number;
  /** Half of them took no longer; absent with fewer than 5 cases. */
  readonly medianMs?: number;
  /** Nine of ten took no longer; absent with fewer than 5 cases. */
  readonly p90Ms?: number;
}

/**
 * How long a past delivery took from the place where another one is to a step: from when it had done
 * the last of the steps that are done there, or from its set-up when it had none of these.
 * @returns milliseconds, 0 for a step that it had done by then; `undefined` when it never did it
 */
export const durationTo = (past: PaceDocument, done: ReadonlySet<string>, stepId: string): number | undefined => {
  const completedAt = past.steps.find(({ id }) => id === stepId)?.completedAt;
  if (completedAt === undefined) return undefined;
  const reached = past.steps.flatMap((step) =>
    step.completedAt !== undefined && done.has(step.id) ? [Date.parse(step.completedAt)] : [],
  );
  const start = reached.length === 0 ? Date.parse(past.setUpAt) : Math.max(...reached);
  return Math.max(0, Date.parse(completedAt) - start);
};

/** What many past deliveries say of a step that is open. */
export const durationsTo = (past: readonly PaceDocument[], done: ReadonlySet<string>, stepId: string): Durations => {
  const sorted = past
    .map((one) => durationTo(one, done, stepId))
    .filter((duration) => duration !== undefined)
    .sort((one, other) => one - other);
  const cases = sorted.length;
  if (cases < minCases) return { cases };
  return { cases, medianMs: quantile(sorted, 0.5), p90Ms: quantile(sorted, 0.9) };
};

/**
 * The nearest-rank quantile: the smallest value that at least the given part of all reach or stay
 * below.
 * @param sorted ascending, not empty
 * @param part above 0, up to 1
 */
export const quantile = (sorted: readonly number[], part: number): number => {
  // Without the rounding, 0.9 × 10 could be a trace above 9 and lead to the tenth value.
  const rank = Math.ceil(Number((part * sorted.length).toFixed(9)));
  return sorted[rank - 1] ?? Number.NaN;
};

/** How many finished deliveries were done by the ETA that stood when their first step was done. */
export const etasHeld = (finished: readonly PaceDocument[]): number =>
  finished.filter(
    ({ finishedAt, promisedAt }) => finishedAt !== undefined && promisedAt !== undefined && finishedAt <= promisedAt,
  ).length;
