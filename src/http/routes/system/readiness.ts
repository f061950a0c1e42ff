import type { Engine } from '../../../engine.js';
import { sleep } from '../../../platform/clock.js';
import type { AnyProjection } from '../../../projections/projection.js';
import { projectionStatus, type StatusParts, type StoredProjectionStatus } from '../../../projections/runner/status.js';

/** One thing that must be right for requests to be answered: what is wrong with it, in words for operators, or `null`. */
export interface ReadinessCheck {
  readonly name: string;
  readonly problem: () => Promise<string | null>;
}

/** A list waits no longer than this for its read model; one that is further behind refuses. */
const mostLagMs = 2_000;
/** A part that has not answered by then is as good as down. */
const patienceMs = 2_000;

/** The stores answer, and each read model is of this build's version and has caught up. */
export const readinessChecks = (parts: StatusParts, projections: readonly AnyProjection[]): readonly ReadinessCheck[] => [
  {
    name: 'event store',
    problem: async () => {
      await parts.eventStore.lastPosition();
      return null;
    },
  },
  {
    name: 'read models',
    problem: async () => {
      await parts.readModels.ping();
      return null;
    },
  },
  ...projections.map((projection) => ({
    name: `read model ${projection.name}`,
    problem: async () => {
      const [status] = await projectionStatus([projection], parts);
      return status === undefined ? null : problemOf(status);
    },
  })),
];

const problemOf = ({ state, lag, version, liveVersion, failure }: StoredProjectionStatus): string | null => {
  if (failure !== null) return failure.message;
  if (state !== 'live') return `version ${liveVersion ?? 'none'} answers, this build needs ${String(version)} (${state})`;
  if (lag !== null && lag.ms > mostLagMs) return `${String(Math.round(lag.ms / 1_000))} s behind`;
  return null;
};

export interface CheckResult {
  readonly name: string;
  /** Absent when all is well. */
  readonly problem?: string;
}

/** Asks all at once; a check that throws or is late is a problem like any other, and never tells more than its kind. */
export const checkReadiness = (engine: Engine, checks: readonly ReadinessCheck[]): Promise<readonly CheckResult[]> =>
  Promise.all(
    checks.map(async ({ name, problem }) => {
      const answered = new AbortController();
      const late = sleep(engine.clock, patienceMs, answered.signal).then(() => 'it does not answer');
      const found = await Promise.race([problem().catch(kindOf), late]);
      answered.abort();
      return { name, ...(found !== null && { problem: found }) };
    }),
  );

const kindOf = (error: unknown): string => `it cannot be asked (${error instanceof Error ? error.name : 'unknown fault'})`;
