import type { Clock } from '../../platform/clock.js';
import { createEventMatcher } from '../../events/store/eventMatcher.js';
import type { EventFilter, EventStore } from '../../events/store/eventStore.js';
import type { AnyProjection } from '../projection.js';
import { ReadModelDropped, type ReadModel, type ReadModelStore } from '../store/readModelStore.js';
import type { ProjectionFailed } from './foldDocuments.js';
import { parkedDocuments, type ParkedDocument } from './parkedDocuments.js';
import { builtBy, modelOf } from './versions.js';

/** How far a read model is behind the log. */
export interface Lag {
  /** Position up to which it reflects the log. */
  readonly position: bigint;
  /** Distance to the last event that it handles, in positions: 0 when it has caught up. */
  readonly positions: bigint;
  /** Age of the oldest event that it does not reflect, in milliseconds: 0 when it has caught up. */
  readonly ms: number;
}

export interface StoredProjectionStatus {
  readonly name: string;
  /** The version of the projection in this build. */
  readonly version: number;
  /** The version that answers reads. */
  readonly liveVersion: string | null;
  /**
   * `live`: this build's version answers reads. `building`: an older one does. `unpublished`: none
   * does. `superseded`: a newer one does.
   */
  readonly state: 'live' | 'building' | 'unpublished' | 'superseded';
  /**
   * Of the live version when this build writes it, otherwise of the version that this build fills;
   * `null` when there is none.
   */
  readonly lag: Lag | null;
  /**
   * The event that a projector could not take, while the read model stands before it. The message
   * contains no data of the event.
   */
  readonly failure: { readonly position: bigint; readonly message: string } | null;
  /** Documents that the store cannot hold: they stay as they were before the event named. */
  readonly parked: readonly ParkedDocument[];
}

export interface StatusParts {
  readonly eventStore: EventStore;
  readonly readModels: ReadModelStore;
  readonly clock: Clock;
}

/**
 * The state of each projection according to the stores, in whichever process it runs. What it reads
 * does not grow with the log.
 *
 * @param signal aborted: nothing more is read, and the lags are not right
 * @throws EventStoreUnavailable, ReadModelStoreUnavailable
 */
export const projectionStatus = async (
  projections: readonly AnyProjection[],
  parts: StatusParts,
  signal?: AbortSignal,
): Promise<readonly StoredProjectionStatus[]> => {
  const end = await parts.eventStore.lastPosition();
  return Promise.all(projections.map((projection) => statusOf(projection, end, parts, signal)));
};

const statusOf = async (
  projection: AnyProjection,
  end: bigint,
  parts: StatusParts,
  signal: AbortSignal | undefined,
): Promise<StoredProjectionStatus> => {
  const { readModels } = parts;
  const { name, version } = projection;
  const liveVersion = await readModels.liveVersion(name);
  const state = stateOf(projection, liveVersion);
  const model = state === 'live' && liveVersion !== null ? modelOf(projection, liveVersion) : modelOf(projection);
  try {
    const position = await readModels.checkpoint(model);
    const [lag, failure, parked] = await Promise.all([
      lagBehind({ types: projection.handles }, position, end, parts, signal),
      failureBeyond(model, position, readModels),
      parkedDocuments(model, readModels),
    ]);
    return { name, version, liveVersion, state, lag, failure, parked };
  } catch (fault) {
    if (fault instanceof ReadModelDropped) return { name, version, liveVersion, state, lag: null, failure: null, parked: [] };
    throw fault;
  }
};

/** The collection of the last failure of each projection, for processes without its projector. */
const failures = 'projectionFailures';

/** Stores why a projection stopped, for `projectionStatus` in any process. */
export const storeFailure = (
  { name, version }: ReadModel,
  { position, message }: ProjectionFailed,
  { modelRecords }: ReadModelStore,
): Promise<void> => modelRecords.put(failures, name, { version, position: String(position), message });

/** The stored failure, unless the read model has passed its event: a later build could take it. */
const failureBeyond = async (
  { name, version }: ReadModel,
  checkpoint: bigint,
  { modelRecords }: ReadModelStore,
): Promise<StoredProjectionStatus['failure']> => {
  const stored = await modelRecords.get(failures, name);
  if (stored?.['version'] !== version) return null;
  const { position, message } = stored as { readonly position: string; readonly message: string };
  return BigInt(position) > checkpoint ? { position: BigInt(position), message } : null;
};

/** Events that are read to find the oldest one that matches. */
const searched = 16;

/**
 * How far `position` is behind the last event that matches. At most a few events are read: when none
 * of them matches, the age is that of the last one, since all that match are younger.
 * @param end a position that the log had reached
 */
export const lagBehind = async (
  filter: EventFilter,
  position: bigint,
  end: bigint,
  { eventStore, clock }: Pick<StatusParts, 'eventStore' | 'clock'>,
  signal?: AbortSignal,
): Promise<Lag> => {
  const none = { position, positions: 0n, ms: 0 };
  if (position >= end || signal?.aborted === true) return none;
  const last = await eventStore.lastPosition(filter);
  if (last <= position) return none;
  const { events } = await eventStore.readAll({ after: position, max: searched });
  const oldest = events.find(createEventMatcher(filter).matches) ?? events.at(-1);
  const ms = oldest === undefined ? 0 : Math.max(0, clock.now() - Date.parse(oldest.recordedAt));
  return { position, positions: last - position, ms };
};

const stateOf = ({ version }: AnyProjection, liveVersion: string | null): StoredProjectionStatus['state'] => {
  if (liveVersion === null) return 'unpublished';
  const live = builtBy(liveVersion);
  if (live === version) return 'live';
  return live < version ? 'building' : 'superseded';
};
