import type { JsonObject } from '../../events/envelope.js';
import type { ReadModelIndex } from '../projection.js';

/**
 * The read-model store port: documents that projections write, guarded by position, and that answer
 * lists. Its contract suite, `test/contracts/readModelStore.contract.ts`, says what every adapter
 * promises. Every call throws ReadModelStoreUnavailable when the store cannot be reached.
 *
 * A call that names a version throws ReadModelDropped when that version was never prepared, or was
 * dropped because another one was published. So no process reads or writes a version that is no
 * longer live. Ids are not empty and hold no NUL and no lone surrogate.
 */
export interface ReadModelStore {
  /**
   * Creates what a version of a read model needs (tables, indexes). Repeating it changes nothing.
   */
  prepare(model: ReadModel): Promise<void>;

  get(model: ReadModel, id: string): Promise<StoredDocument | null>;

  /** As `get`, for many ids at once. The map leaves out ids that have no document. */
  getMany(model: ReadModel, ids: readonly string[]): Promise<ReadonlyMap<string, StoredDocument>>;

  /**
   * Documents that match `query`, ordered by id (as UTF-8 bytes), or as `query.sort` says, without
   * deleted ones. Long work lets other work in the process run, and ends when `signal` is aborted.
   * @throws TypeError for a field in `where` or `sort` that has no index for it; the signal's reason
   */
  find(model: ReadModel, query: ReadModelQuery, signal?: AbortSignal): Promise<readonly StoredDocument[]>;

  /** The ids of all documents that match, or of a page of them, by id, the last first. @throws as `find` */
  findIds(model: ReadModel, query: IdsQuery, signal?: AbortSignal): Promise<readonly string[]>;

  /** How many documents match. @throws as `find` */
  count(model: ReadModel, selection: Selection, signal?: AbortSignal): Promise<number>;

  /**
   * Writes each document unless the stored one reflects the same or a later position, then moves
   * the checkpoint forward (never back). A `null` body leaves a tombstone, which guards against
   * older writes until `purgeTombstones`.
   * @throws DocumentsTooLarge when the store cannot hold some of them: apply the rest without them
   */
  apply(model: ReadModel, writes: readonly DocumentWrite[], checkpoint: bigint, options?: ApplyOptions): Promise<void>;

  /**
   * Moves checkpoints forward (never back) over events that concern no document, together where the
   * store can. A version that was dropped is left out.
   */
  advance(checkpoints: readonly ModelCheckpoint[]): Promise<void>;

  /** The position up to which the model reflects the log; `START` before the first `apply`. */
  checkpoint(model: ReadModel): Promise<bigint>;

  /**
   * Waits until the checkpoint is at `position` or later, whichever process moved it. Resolves
   * `false` when `signal` is aborted first.
   */
  reached(model: ReadModel, position: bigint, signal: AbortSignal): Promise<boolean>;

  /** The version that answers reads; `null` before the first `publish`. */
  liveVersion(name: string): Promise<string | null>;

  /**
   * Makes `model.version` the live one, at once for every process, and drops the other versions,
   * which nothing finds any more. `sweep` removes what they leave behind.
   */
  publish(model: ReadModel): Promise<void>;

  /** Removes what dropped versions left behind, of any process. Other work goes first. */
  sweep(): Promise<void>;

  /** Removes tombstones that reflect a position before `before`. */
  purgeTombstones(model: ReadModel, before: bigint): Promise<void>;

  /**
   * Small records that are no read models, and that no loss of read models takes along: stored
   * responses, workers' positions, sessions, leases.
   */
  readonly records: RecordStore;

  /** The same records, for what must not be lost: a write that resolved survives a power cut. */
  readonly durableRecords: RecordStore;

  /** What is true of these read models alone: of which log they are, what of them is parked. */
  readonly modelRecords: RecordStore;

  /** Resolves when the store answers. */
  ping(): Promise<void>;

  close(): Promise<void>;
}

/**
 * The collections of `modelRecords`, beside the log that they belong to: made anew from it, so that other stores are
 * not given them. By the names of `projections/runner/` and `projections/foldSnapshots.ts`.
 */
export const modelCollections: readonly string[] = ['projectionFailures', 'parkedDocuments', 'rebuilds', 'foldSnapshot'];

/** A version of a read model. Several versions of one name may exist side by side. */
export interface ReadModel {
  readonly name: string;
  /** The projection's version, with a suffix while a rebuild of the same version runs beside it. */
  readonly version: string;
  readonly indexes: readonly ReadModelIndex[];
  /**
   * Indexed fields by whose values a store may count documents as it writes them, so that a count by
   * these alone does not grow with their number. `[]`: all of them are counted.
   */
  readonly counted?: readonly string[];
  /**
   * Whether each document is of one event and never changes, so that a store need not look for an
   * earlier one: what is at a position after the checkpoint is new. Default: no
   */
  readonly isAppendOnly?: boolean;
}

export interface ApplyOptions {
  /**
   * Whether one of many in a row: the store may write on another thread, so that the caller goes on
   * meanwhile. Default: no
   */
  readonly inBulk?: boolean;
}

export interface ModelCheckpoint {
  readonly model: ReadModel;
  readonly position: bigint;
}

export interface StoredDocument {
  readonly id: string;
  /** Revision, in its stream, of the last event that the document reflects. */
  readonly revision: bigint;
  /** Position, in the log, of the last event that the document reflects. */
  readonly position: bigint;
  readonly body: JsonObject;
}

export interface DocumentWrite {
  readonly id: string;
  readonly revision: bigint;
  readonly position: bigint;
  /** `null` deletes the document. */
  readonly body: JsonObject | null;
}

/** Conditions that indexes answer. */
export interface Selection {
  /**
   * Indexed fields that must equal a value, or one of several (`[]` matches nothing); an array
   * field matches by any element.
   */
  readonly where?: Readonly<Record<string, string | readonly string[]>>;
  /** Indexed array fields of which each of the values must be an element. */
  readonly having?: Readonly<Record<string, readonly string[]>>;
  /** An indexed field that must begin with `text`; an array field matches by any element. */
  readonly beginning?: { readonly field: string; readonly text: string };
  /** A field with a sorting index, whose key must sort before that of `text`. */
  readonly below?: { readonly field: string; readonly text: string };
  /** Only the documents with these ids. */
  readonly ids?: readonly string[];
  /** Not the documents with these ids. */
  readonly without?: readonly string[];
  /** Only ids from `from` (inclusive) and before `before` (exclusive), as UTF-8 bytes. */
  readonly range?: { readonly from?: string; readonly before?: string };
}

export interface ReadModelQuery extends Selection {
  /** Fields of which at least one must contain `text`, case and diacritics apart. */
  readonly search?: { readonly fields: readonly string[]; readonly text: string };
  /** Documents are ordered by id, unless `sort` says otherwise. */
  readonly order: 'ascending' | 'descending';
  /** Only documents after this id (exclusive), in the given order. */
  readonly after?: string;
  /**
   * Documents are ordered by a field that has a sorting index, by `sortKeyIn`, and by id where that
   * is equal. `afterKey`: the key of the document `after` when it was found.
   */
  readonly sort?: { readonly field: string; readonly afterKey?: string };
  readonly limit: number;
}

export interface IdsQuery extends Selection {
  /** Only ids before this one (exclusive). */
  readonly after?: string;
  readonly limit?: number;
}

export interface RecordStore {
  get(collection: string, key: string): Promise<JsonObject | null>;
  /**
   * Writes the record unless one that has not expired is there, and resolves with whether it did.
   * Of many concurrent inserts exactly one writes.
   */
  insert(collection: string, key: string, value: JsonObject, expiresAt?: number): Promise<boolean>;
  /**
   * Writes or replaces the record. `expiresAt` is in ms since the epoch; an expired record is
   * treated as absent.
   */
  put(collection: string, key: string, value: JsonObject, expiresAt?: number): Promise<void>;
  /**
   * Writes the record if it is equal to `expected` and has not expired, and resolves with whether it
   * did. Of many concurrent replacements of one value exactly one writes.
   */
  replace(collection: string, key: string, expected: JsonObject, value: JsonObject, expiresAt?: number): Promise<boolean>;
  delete(collection: string, key: string): Promise<void>;
  /** Removes the expired records of every collection and resolves with their number. */
  purgeExpired(): Promise<number>;
  /** Every record of every collection that has not expired, read page by page, in any order. */
  entries(): AsyncIterable<RecordEntry>;
}

export interface RecordEntry {
  readonly collection: string;
  readonly key: string;
  readonly value: JsonObject;
  /** Absent: it does not expire. */
  readonly expiresAt?: number;
}

export class ReadModelDropped extends Error {
  override readonly name = 'ReadModelDropped';

  constructor(model: ReadModel) {
    super(`version ${model.version} of read model ${model.name} is not prepared, or was dropped`);
  }
}

/** Documents that are larger than the store can hold. The checkpoint was not moved. */
export class DocumentsTooLarge extends Error {
  override readonly name = 'DocumentsTooLarge';
  readonly ids: readonly string[];

  constructor(ids: readonly string[], maxBytes: number) {
    super(`documents of a read model are larger than ${String(maxBytes)} bytes: ${ids.join(', ')}`);
    this.ids = ids;
  }
}

export class ReadModelStoreUnavailable extends Error {
  override readonly name: string = 'ReadModelStoreUnavailable';
}

/** Other processes have the file open, and it was asked for alone. */
export class ReadModelStoreInUse extends ReadModelStoreUnavailable {
  override readonly name = 'ReadModelStoreInUse';
}
