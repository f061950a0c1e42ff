import { EventStoreUnavailable, type EventStore } from '../../events/store/eventStore.js';
import type { Clock } from '../../platform/clock.js';
import { nextTurn } from '../../platform/eventLoop.js';
import type { AnyProjection } from '../projection.js';
import type { ReadModel, ReadModelStore } from '../store/readModelStore.js';
import { parkedDocuments } from './parkedDocuments.js';
import { foldEvents, noDocuments, writeDocuments, type Decode } from './fold.js';
import type { TermSource } from './personalTerms.js';
import { builtBy, modelOf } from './versions.js';

export interface RebuildParts {
  readonly projections: readonly AnyProjection[];
  readonly eventStore: EventStore;
  readonly readModels: ReadModelStore;
  readonly decode: Decode;
  /** For projections that personal data is found by. */
  readonly personal?: TermSource;
  readonly clock: Clock;
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

/** Larger batches outlive the young generation of the garbage collector, and are slower. */
const batchSize = 1_000;
/**
 * The events between two writes. More of them cost more after an interruption; fewer write a busy
 * document more often.
 */
const eventsPerWrite = 50_000;
const documentsPerWrite = 2_000;
/** Documents kept in memory. Above it all are dropped, and read again as needed. */
const maxDocumentsKept = 20_000;

/**
 * Folds the whole log again, beside the version that answers reads, and publishes the result.
 * Running projectors notice it and go on with the new version. After an interruption the next call
 * continues.
 *
 * @throws ProjectionFailed when the projection cannot take an event: the live version stays
 * @throws ReadModelDropped when another version was published meanwhile
 * @throws the signal's reason; EventStoreUnavailable, ReadModelStoreUnavailable
 */
export const rebuildProjection = async (name: string, parts: RebuildParts): Promise<RebuildResult> => {
  const { readModels, eventStore } = parts;
  const projection = parts.projections.find((candidate) => candidate.name === name);
  if (projection === undefined) throw new TypeError(`there is no projection ${name}`);
  const filter = { types: projection.handles };

  const { model, resumed } = await beginOrResume(projection, parts);
  await readModels.prepare(model);
  let events = 0;
  const catchUp = async (): Promise<void> => {
    events += await foldUpTo(await eventStore.lastPosition(filter), projection, model, parts, events);
  };
  await catchUp();
  // Again for the events that came meanwhile, so that little is left to do after the swap.
  await catchUp();
  await readModels.publish(model);
  // A projector may have written an event to the dropped version just before the swap, and notices
  // the swap only later.
  await catchUp();
  await readModels.modelRecords.delete(unfinished, name);
  return { version: model.version, events, resumed };
};

/** The collection of unfinished rebuilds: projection → version. */
const unfinished = 'rebuilds';

const beginOrResume = async (
  projection: AnyProjection,
  { readModels, clock }: RebuildParts,
): Promise<{ model: ReadModel; resumed: boolean }> => {
  const { name, version } = projection;
  const interrupted = (await readModels.modelRecords.get(unfinished, name))?.['version'];
  const resumable =
    typeof interrupted === 'string' && builtBy(interrupted) === version && interrupted !== (await readModels.liveVersion(name));
  if (resumable) return { model: modelOf(projection, interrupted), resumed: true };
  const model = modelOf(projection, `${String(version)}-r${String(clock.now())}`);
  await readModels.modelRecords.put(unfinished, name, { version: model.version });
  return { model, resumed: false };
};

/** Folds from the stored checkpoint up to `target`; returns how many events that were. */
const foldUpTo = async (
  target: bigint,
  projection: AnyProjection,
  model: ReadModel,
  { eventStore, readModels, decode, personal, signal, onProgress }: RebuildParts,
  before: number,
): Promise<number> => {
  const documents = noDocuments();
  const parked = new Set((await parkedDocuments(model, readModels)).map(({ id }) => id));
  let position = await readModels.checkpoint(model);
  let events = 0;
  let eventsWritten = 0;

  const write = async (): Promise<void> => {
    for (const id of await writeDocuments(readModels, model, documents, position)) parked.add(id);
    eventsWritten = events;
    if (documents.byId.size > maxDocumentsKept) documents.byId.clear();
    onProgress?.({ events: before + events, position, target });
  };

  while (position < target) {
    if (signal?.aborted === true) {
      if (documents.unwritten.size > 0) await write();
      signal.throwIfAborted();
    }
    const slice = await eventStore.readAll({ after: position, max: batchSize, filter: { types: projection.handles } });
    if (slice.position <= position) throw new EventStoreUnavailable('the log ends before the position that it named');
    const failure = await foldEvents(
      projection,
      decode,
      slice.events,
      documents,
      parked,
      async (ids) => [...(await readModels.getMany(model, ids)).values()],
      personal,
    );
    if (failure !== null) {
      // The code has to change before the next rebuild, which then cannot continue this one.
      await readModels.modelRecords.delete(unfinished, projection.name);
      throw failure;
    }
    events += slice.events.length;
    position = slice.position;
    const due = documents.unwritten.size >= documentsPerWrite || events - eventsWritten >= eventsPerWrite;
    if (due || position >= target) await write();
    await nextTurn();
  }
  return events;
};
