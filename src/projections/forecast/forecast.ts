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
 * How long a past delivery took to each step that it did, from the place where another one is: from
 * when it had done the last of the steps that are done there, or from its set-up when it had none of
 * these.
 * @returns milliseconds by the id of the step, 0 for a step that it had done by then
 */
export const durationsIn = ({ setUpAt, steps }: PaceDocument, done: ReadonlySet<string>): ReadonlyMap<string, number> => {
  const times = new Map<string, number>();
  let start: number | undefined;
  for (const { id, completedAt } of steps) {
    if (completedAt === undefined) continue;
    const time = Date.parse(completedAt);
    times.set(id, time);
    if (done.has(id)) start = Math.max(start ?? time, time);
  }
  const from = start ?? Date.parse(setUpAt);
  return new Map([...times].map(([id, time]) => [id, Math.max(0, time - from)]));
};

/** What many past deliveries say of each of the steps that are open. */
export const durationsTo = (
  past: readonly PaceDocument[],
  done: ReadonlySet<string>,
  open: readonly string[],
): readonly Durations[] => {
  const all = past.map((one) => durationsIn(one, done));
  return open.map((id) => {
    const durations = Float64Array.from(all.flatMap((one) => one.get(id) ?? [])).sort();
    const cases = durations.length;
    return cases < minCases ? { cases } : { cases, medianMs: quantile(durations, 0.5), p90Ms: quantile(durations, 0.9) };
  });
};

/**
 * The nearest-rank quantile: the smallest value that at least the given part of all reach or stay
 * below.
 * @param sorted ascending, not empty
 * @param part above 0, up to 1
 */
export const quantile = (sorted: ArrayLike<number>, part: number): number => {
  // Without the rounding, 0.9 × 10 could be a trace above 9 and lead to the tenth value.
  const rank = Math.ceil(Number((part * sorted.length).toFixed(9)));
  return sorted[rank - 1] ?? Number.NaN;
};

/** How many finished deliveries were done by the ETA that stood when their first step was done. */
export const etasHeld = (finished: readonly PaceDocument[]): number =>
  finished.filter(
    ({ finishedAt, promisedAt }) => finishedAt !== undefined && promisedAt !== undefined && finishedAt <= promisedAt,
  ).length;
