import type { Random } from '../../platform/random.js';
import type { AnyProjection } from '../projection.js';
import type { ReadModel } from '../store/readModelStore.js';
import { createCatchUp, type CatchUp, type CatchUpParts, type CatchUpWrite } from './catchUp.js';
import { ProjectionFailed } from './foldDocuments.js';
import { builtBy, freshModelOf, modelOf } from './versions.js';

export interface RebuildParts extends CatchUpParts {
  readonly projections: readonly AnyProjection[];
  readonly random: Random;
  /** Shared by rebuilds that run at the same time. */
  readonly catchUp?: CatchUp;
  /** Ends the rebuild between two batches; the next rebuild continues from there. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: RebuildProgress) => void;
}

export interface RebuildProgress {
  /** Events folded by this call. */
  readonly events: number;
  readonly position: bigint;
  /** The last event that the projection handles. */
  readonly target: bigint;
}

export interface RebuildResult {
  /** The version that answers reads now. */
  readonly version: string;
  readonly events: number;
  /** Whether it continued a rebuild that had been interrupted. */
  readonly resumed: boolean;
}

/**
 * Folds the whole log again, beside the version that answers reads, and publishes the result.
 * Running projectors notice it and go on with the new version. After an interruption the next call
 * continues. Rebuilds that run at the same time on one `catchUp` read the log once. What the version
 * before leaves behind is for `sweep` to remove.
 *
 * @throws ProjectionFailed when the projection cannot take an event: the live version stays
 * @throws ReadModelDropped when another version was published meanwhile
 * @throws the signal's reason; EventStoreUnavailable, ReadModelStoreUnavailable
 */
export const rebuildProjection = async (name: string, parts: RebuildParts): Promise<RebuildResult> => {
  const { readModels, eventStore, signal, onProgress, catchUp = createCatchUp(parts) } = parts;
  const projection = parts.projections.find((candidate) => candidate.name === name);
  if (projection === undefined) throw new TypeError(`there is no projection ${name}`);

  const { model, resumed } = await beginOrResume(projection, parts);
  await readModels.prepare(model);
  let events = 0;
  const foldOn = async (): Promise<void> => {
    const target = await eventStore.lastPosition({ types: projection.handles });
    const before = events;
    const onWritten = ({ events: folded, position }: CatchUpWrite): void => {
      // It reaches as far as the log was read, which may have ended with events of other types.
      onProgress?.({ events: before + folded, position: position < target ? position : target, target });
    };
    events += await catchUp.run({ projection, model, through: target, signal, onWritten });
  };
  try {
    await foldOn();
    // Again for the events that came meanwhile, so that little is left to do after the swap.
    await foldOn();
    await readModels.publish(model);
    // A projector may have written an event to the dropped version just before the swap, and notices
    // the swap only later.
    await foldOn();
  } catch (fault) {
    // The code has to change before the next rebuild, which then cannot continue this one.
    if (fault instanceof ProjectionFailed) await readModels.modelRecords.delete(unfinished, name);
    throw fault;
  }
  await readModels.modelRecords.delete(unfinished, name);
  return { version: model.version, events, resumed };
};

/** The collection of unfinished rebuilds: projection → version. */
const unfinished = 'rebuilds';

const beginOrResume = async (
  projection: AnyProjection,
  { readModels, random }: RebuildParts,
): Promise<{ model: ReadModel; resumed: boolean }> => {
  const { name, version } = projection;
  const interrupted = (await readModels.modelRecords.get(unfinished, name))?.['version'];
  const resumable =
    typeof interrupted === 'string' && builtBy(interrupted) === version && interrupted !== (await readModels.liveVersion(name));
  if (resumable) return { model: modelOf(projection, interrupted), resumed: true };
  const model = freshModelOf(projection, random);
  await readModels.modelRecords.put(unfinished, name, { version: model.version });
  return { model, resumed: false };
};
