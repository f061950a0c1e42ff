import { START, type EventStore } from '../../events/store/eventStore.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import type { AnyProjection } from '../projection.js';
import { ReadModelDropped, type ReadModel, type ReadModelStore } from '../store/readModelStore.js';
import { builtBy, freshModelOf, modelOf } from './versions.js';

interface Parts {
  readonly eventStore: Pick<EventStore, 'lastPosition'>;
  readonly readModels: ReadModelStore;
  readonly projections: readonly AnyProjection[];
  readonly random: Random;
  readonly logger?: Pick<Logger, 'warn'> | undefined;
}

/**
 * Replaces read models that reflect events which the log does not have, as after a restore of an older log, by empty
 * ones, which projectors fill. What those events made must not be read, and what the log gets at their positions
 * would be taken for folded. Call it before this process appends: once the log has come as far again, nobody can tell.
 * A read model that a newer build writes is left to that build.
 *
 * @throws EventStoreUnavailable, ReadModelStoreUnavailable
 */
export const replaceReadModelsAhead = async (parts: Parts): Promise<void> => {
  const { eventStore, readModels, projections, random, logger } = parts;
  const reached = await Promise.all(
    projections.map(async (projection) => ({ projection, position: await positionOf(projection, readModels) })),
  );
  // Asked after the positions, of which each was in the log by then.
  const end = await eventStore.lastPosition();
  for (const { projection, position } of reached) {
    if (position <= end) continue;
    const model = freshModelOf(projection, random);
    await readModels.prepare(model);
    await readModels.publish(model);
    logger?.warn(
      { projection: projection.name, position: String(position), end: String(end) },
      'the read model has events that the log lacks, which was restored from a backup; it is folded anew',
    );
  }
};

/** The last position that the version that answers reads reflects, or the one that this build fills beside it. */
const positionOf = async (projection: AnyProjection, readModels: ReadModelStore): Promise<bigint> => {
  const live = await readModels.liveVersion(projection.name);
  if (live !== null && builtBy(live) > projection.version) return START;
  const own = await checkpointOf(modelOf(projection), readModels);
  if (live === null || live === String(projection.version)) return own;
  const ofLive = await checkpointOf(modelOf(projection, live), readModels);
  return own > ofLive ? own : ofLive;
};

/** `START` for a version that is not there. */
const checkpointOf = async (model: ReadModel, readModels: ReadModelStore): Promise<bigint> => {
  try {
    return await readModels.checkpoint(model);
  } catch (error) {
    if (error instanceof ReadModelDropped) return START;
    throw error;
  }
};
