import { EventStoreError } from '../../events/store/eventStore.js';
import type { AnyProjection } from '../projection.js';
import { startFollower, type Follower, type FollowerParts, type FollowerState } from './follower.js';
import { lagBehind, type Lag } from './status.js';

/** Keeps read models up to date: each projection follows the log on its own. Any number of projectors may run on the same stores. */
export interface Projector {
  /** Resolves once each projection has a version that answers reads, or has met a store fault and keeps trying. */
  start(): Promise<void>;
  /** Ends after the batches under way; for good. */
  stop(): Promise<void>;
  status(): Promise<readonly ProjectorStatus[]>;
}

export interface ProjectorStatus {
  readonly name: string;
  /** The version of the projection in this build. */
  readonly version: number;
  /** The version of the read model that it writes; `null` while there is none. */
  readonly writes: string | null;
  readonly state: FollowerState;
  readonly position: bigint;
  /** `null` when the event store could not be asked. */
  readonly lag: Lag | null;
  /** The event that it could not take. The message names types and places in the code, nothing of what the event holds. */
  readonly failure: { readonly position: bigint; readonly eventType: string; readonly message: string } | null;
}

export const createProjector = (parts: FollowerParts & { readonly projections: readonly AnyProjection[] }): Projector => {
  const { projections, eventStore, clock } = parts;
  let followers: readonly Follower[] = [];

  const statusOf = async ({ projection, state, model, position, failure }: Follower): Promise<ProjectorStatus> => ({
    name: projection.name,
    version: projection.version,
    writes: model?.version ?? null,
    state,
    position,
    lag: await lagOrNull(() => lagBehind(projection, position, { eventStore, clock })),
    failure: failure === null ? null : { position: failure.position, eventType: failure.eventType, message: failure.message },
  });

  return {
    start: async () => {
      if (followers.length === 0) followers = projections.map((projection) => startFollower(projection, parts));
      await Promise.all(followers.map(({ started }) => started));
    },
    stop: async () => {
      await Promise.all(followers.map((follower) => follower.stop()));
    },
    status: () => Promise.all(followers.map(statusOf)),
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
