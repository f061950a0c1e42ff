import { EventStoreError } from '../../events/store/eventStore.js';
import type { AnyProjection } from '../projection.js';
import { createCatchUp } from './catchUp.js';
import { createCheckpoints } from './checkpoints.js';
import { startProjectionRunner, type ProjectionRunner, type RunnerParts, type RunnerState } from './projectionRunner.js';
import { lagBehind, type Lag } from './status.js';
import { sweepDropped } from './sweepDropped.js';

/**
 * Keeps read models up to date: one runner for each projection. Any number of projectors may run on
 * the same stores.
 */
export interface Projector {
  /**
   * Resolves once each runner has chosen the version that it writes, or retries after a store
   * fault.
   */
  start(): Promise<void>;
  /** Resolves after the batches under way. A stopped projector does not start again. */
  stop(): Promise<void>;
  status(): Promise<readonly ProjectorStatus[]>;
}

export interface ProjectorStatus {
  readonly name: string;
  /** The version of the projection in this build. */
  readonly version: number;
  /** The version of the read model that it writes; `null` while there is none. */
  readonly writes: string | null;
  readonly state: RunnerState;
  readonly position: bigint;
  /** `null` when the event store did not answer. */
  readonly lag: Lag | null;
  /** The event that it could not take. The message contains no data of the event. */
  readonly failure: { readonly position: bigint; readonly eventType: string; readonly message: string } | null;
}

export const createProjector = (
  parts: Omit<RunnerParts, 'checkpoints' | 'catchUp'> & { readonly projections: readonly AnyProjection[] },
): Projector => {
  const { projections, eventStore, clock } = parts;
  const checkpoints = createCheckpoints(parts);
  const catchUp = createCatchUp(parts);
  let runners: readonly ProjectionRunner[] = [];

  const statusOf = async ({ projection, progress }: ProjectionRunner): Promise<ProjectorStatus> => {
    const { state, model, position, failure } = progress;
    return {
      name: projection.name,
      version: projection.version,
      writes: model?.version ?? null,
      state,
      position,
      lag: await lagOrNull(async () =>
        lagBehind({ types: projection.handles }, position, await eventStore.lastPosition(), { eventStore, clock }),
      ),
      failure: failure === null ? null : { position: failure.position, eventType: failure.eventType, message: failure.message },
    };
  };

  return {
    start: async () => {
      if (runners.length === 0) {
        runners = projections.map((projection) => startProjectionRunner(projection, { ...parts, checkpoints, catchUp }));
        // Of a process that ended before it was done with them.
        sweepDropped(parts);
      }
      await Promise.all(runners.map(({ started }) => started));
    },
    stop: async () => {
      await Promise.all(runners.map((runner) => runner.stop()));
    },
    status: () => Promise.all(runners.map(statusOf)),
  };
};

const lagOrNull = async (ask: () => Promise<Lag>): Promise<Lag | null> => {
  try {
    return await ask();
  } catch (fault) {
    if (fault instanceof EventStoreError) return null;
    throw fault;
  }
};
