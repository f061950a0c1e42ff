import type { LogSlice } from '../../events/store/eventStore.js';
import type { AnyProjection } from '../projection.js';
import type { ReadModel } from '../store/readModelStore.js';
import {
  foldEvents,
  noDocuments,
  takeUnwritten,
  writeDocuments,
  type FoldParts,
  type ProjectionFailed,
} from './foldDocuments.js';
import { parkedDocuments } from './parkedDocuments.js';

export interface AppliedBatch {
  /** The position up to which the read model reflects the log now. */
  readonly position: bigint;
  /**
   * Whether the stored checkpoint stays behind `position`, because no document had to be written.
   */
  readonly isCheckpointDue: boolean;
  /** The event that the projection could not take. The events before it are applied. */
  readonly failure: ProjectionFailed | null;
  /** Documents that the store cannot hold, which are parked now. */
  readonly parked: readonly string[];
}

/**
 * Folds a slice of the log into a read model: writes each changed document once, then the
 * checkpoint.
 * @param position where the slice begins (exclusive)
 * @throws ReadModelDropped, ReadModelStoreUnavailable
 */
export const applyBatch = async (
  projection: AnyProjection,
  model: ReadModel,
  slice: LogSlice,
  position: bigint,
  parts: FoldParts,
): Promise<AppliedBatch> => {
  const { readModels } = parts;
  // Another process may be ahead: what it has applied is in the documents already.
  const applied = slice.events.length === 0 ? position : await readModels.checkpoint(model);
  const events = slice.events.filter((event) => event.position > applied);
  const documents = noDocuments();
  const parked = new Set(events.length === 0 ? [] : (await parkedDocuments(model, readModels)).map(({ id }) => id));
  const failure = await foldEvents({ projection, model, documents, parked }, events, parts);
  const before = applied > position ? applied : position;
  const reached = failure === null ? slice.position : lastPositionBefore(failure, events, before);
  if (documents.unwritten.size === 0 && failure === null)
    return { position: reached, isCheckpointDue: reached > applied, failure, parked: [] };
  const nowParked = await writeDocuments(readModels, model, takeUnwritten(documents), reached);
  return { position: reached, isCheckpointDue: false, failure, parked: nowParked };
};

const lastPositionBefore = (failure: ProjectionFailed, events: LogSlice['events'], otherwise: bigint): bigint =>
  events.findLast((event) => event.position < failure.position)?.position ?? otherwise;
