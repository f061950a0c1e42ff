import type { JsonObject, Recorded } from '../../events/envelope.js';
import { START, type StoredEvent } from '../../events/store/eventStore.js';
import { placeOf } from '../../platform/faultPlace.js';
import type { AnyProjection, PersonalTerms } from '../projection.js';
import {
  DocumentsTooLarge,
  type ApplyOptions,
  type DocumentWrite,
  type ReadModel,
  type ReadModelStore,
} from '../store/readModelStore.js';
import { parkDocuments } from './parkedDocuments.js';
import { personalTermsOf, type TermSource } from './personalTerms.js';

/** Decodes a stored event to today's version of its type; `undefined` for one to skip. */
export type Decode = (stored: StoredEvent) => Recorded | undefined;

/**
 * A projection, or the decoding before it, threw over an event. The message contains no data of it.
 */
export class ProjectionFailed extends Error {
  override readonly name = 'ProjectionFailed';
  readonly projection: string;
  readonly position: bigint;
  readonly eventType: string;

  constructor(projection: string, event: StoredEvent, fault: unknown) {
    super(`the ${projection} projection failed at position ${String(event.position)} over ${event.type}: ${placeOf(fault)}`);
    this.projection = projection;
    this.position = event.position;
    this.eventType = event.type;
  }
}

/** Documents folded in memory, and the ids of those that are not written yet. */
export interface FoldedDocuments {
  /** The one that was changed last comes last. */
  readonly byId: Map<string, DocumentWrite>;
  readonly unwritten: Set<string>;
  /** Whether every document is here that the events so far have made, so that none has to be loaded. */
  isWhole: boolean;
}

export const noDocuments = (isWhole = false): FoldedDocuments => ({ byId: new Map(), unwritten: new Set(), isWhole });

/** What events are folded over: documents of one version of a read model. */
export interface FoldTarget {
  readonly projection: AnyProjection;
  readonly model: ReadModel;
  readonly documents: FoldedDocuments;
  /** The ids of those that the store cannot hold. */
  readonly parked: ReadonlySet<string>;
}

export interface FoldParts {
  readonly readModels: ReadModelStore;
  readonly decode: Decode;
  /** For projections that personal data is found by. */
  readonly personal?: TermSource | undefined;
}

/**
 * Folds events, in log order, over documents, which it loads as needed; those that are appended only
 * are new. It skips an event at or below its document's position, and those of parked documents.
 * Returns the failure that ended it early: the documents then reflect every event before that one.
 */
export const foldEvents = async (
  { projection, model, documents, parked }: FoldTarget,
  events: readonly StoredEvent[],
  { readModels, decode, personal }: FoldParts,
): Promise<ProjectionFailed | null> => {
  const documentId = projection.documentId as (event: Recorded) => string;
  const evolve = projection.evolve as (document: JsonObject | null, event: Recorded, terms?: PersonalTerms) => JsonObject | null;
  let failure: ProjectionFailed | null = null;

  const decoded: { id: string; event: Recorded; stored: StoredEvent }[] = [];
  for (const stored of events) {
    try {
      const event = decode(stored);
      const id = event === undefined ? undefined : documentId(event);
      if (event !== undefined && id !== undefined && !parked.has(id)) decoded.push({ id, event, stored });
    } catch (fault) {
      failure = new ProjectionFailed(projection.name, stored, fault);
      break;
    }
  }

  if (!documents.isWhole && projection.isAppendOnly !== true) {
    const missing = new Set(decoded.map(({ id }) => id).filter((id) => !documents.byId.has(id)));
    const loaded = missing.size === 0 ? [] : (await readModels.getMany(model, [...missing])).values();
    for (const document of loaded) documents.byId.set(document.id, document);
  }

  for (const { id, event, stored } of decoded) {
    const before = documents.byId.get(id);
    if (event.position <= (before?.position ?? START)) continue;
    const terms = projection.searched === undefined ? undefined : await personalTermsOf(projection, event, personal);
    try {
      const body = evolve(before?.body ?? null, event, terms);
      if (before !== undefined) documents.byId.delete(id);
      documents.byId.set(id, { id, revision: event.revision, position: event.position, body });
      documents.unwritten.add(id);
    } catch (fault) {
      return new ProjectionFailed(projection.name, stored, fault);
    }
  }
  return failure;
};

/** The documents that are not written yet, which count as written from now on. */
export const takeUnwritten = ({ byId, unwritten }: FoldedDocuments): readonly DocumentWrite[] => {
  const writes = [...unwritten].map((id) => byId.get(id)).filter((write) => write !== undefined);
  unwritten.clear();
  return writes;
};

/**
 * Writes documents, and moves the checkpoint. Documents that the store cannot hold are parked, durably
 * before the checkpoint passes their events. Returns their ids.
 */
export const writeDocuments = async (
  readModels: ReadModelStore,
  model: ReadModel,
  writes: readonly DocumentWrite[],
  checkpoint: bigint,
  options?: ApplyOptions,
): Promise<readonly string[]> => {
  try {
    await readModels.apply(model, writes, checkpoint, options);
    return [];
  } catch (fault) {
    if (!(fault instanceof DocumentsTooLarge)) throw fault;
    const refused = writes.filter(({ id }) => fault.ids.includes(id));
    await parkDocuments(model, refused, readModels);
    const rest = writes.filter((write) => !refused.includes(write));
    await readModels.apply(model, rest, checkpoint, options);
    return fault.ids;
  }
};
