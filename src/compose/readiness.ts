import type { ReadinessCheck } from '../http/routes/system/readiness.js';
import type { AnyProjection } from '../projections/projection.js';
import type { StatusParts, StoredProjectionStatus } from '../projections/runner/status.js';
import { builtBy, understands } from '../projections/runner/versions.js';

/** A list waits no longer than this for its read model; one that is further behind refuses. */
const maxLagMs = 2_000;

/**
 * What requests need: the stores answer, and the live version of each read model is one that this
 * build reads. A read model that lags or has failed is only a warning, because most requests do
 * not wait for it, and turning away every process would not move it on.
 * @param status of all projections, which the checks that run at the same time share
 */
export const readinessChecks = (
  parts: StatusParts,
  projections: readonly AnyProjection[],
  status: (signal: AbortSignal) => Promise<readonly StoredProjectionStatus[]>,
): readonly ReadinessCheck[] => [
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
    problem: async () => problemOf(projection, await parts.readModels.liveVersion(projection.name)),
    warning: async (signal: AbortSignal) => {
      const found = (await status(signal)).find(({ name }) => name === projection.name);
      return found === undefined ? null : warningOf(found);
    },
  })),
];

/** @param isStopping whether this process takes no new requests any more */
export const stopCheck = (isStopping: () => boolean): ReadinessCheck => ({
  name: 'process',
  problem: () => Promise.resolve(isStopping() ? 'it is stopping' : null),
});

const problemOf = (projection: AnyProjection, liveVersion: string | null): string | null => {
  const { version } = projection;
  const needed = `this process reads version ${String(version)}`;
  if (liveVersion === null) return `no version is published yet, ${needed}; a process with the projector role must run`;
  if (understands(projection, liveVersion)) return null;
  const live = builtBy(liveVersion);
  if (live < version) return `version ${liveVersion} is live, ${needed}, which is still being built`;
  return `version ${liveVersion} of a newer build is live, ${needed}; upgrade this process`;
};

const warningOf = ({ lag, failure, parked }: StoredProjectionStatus): string | null => {
  if (failure !== null) return failure.message;
  if (parked.length > 0) return `parked, because the store cannot hold them: ${parked.map(({ id }) => id).join(', ')}`;
  return lag !== null && lag.ms > maxLagMs ? `${String(Math.round(lag.ms / 1_000))} s behind` : null;
};
