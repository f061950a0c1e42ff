import type { ReadinessCheck } from '../http/routes/system/readiness.js';
import type { AnyProjection } from '../projections/projection.js';
import { projectionStatus, type StatusParts, type StoredProjectionStatus } from '../projections/runner/status.js';

/** A list waits no longer than this for its read model; one that is further behind refuses. */
const maxLagMs = 2_000;

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
  if (lag !== null && lag.ms > maxLagMs) return `${String(Math.round(lag.ms / 1_000))} s behind`;
  return null;
};
