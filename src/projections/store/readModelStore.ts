import type { JsonObject } from '../../events/envelope.js';
import type { ReadModelIndex } from '../projection.js';

/**
 * The read-model store port: documents that projections write, guarded by position, and that lists are answered from.
 * What every adapter must hold is written down as its contract suite, `test/contracts/readModelStore.contract.ts`.
 * Every call throws ReadModelStoreUnavailable when the store cannot be reached.
 *
 * A call that names a version throws ReadModelDropped when the version was never prepared, or was dropped when another one was
 * published: nobody is answered from what is no longer live, and nobody goes on writing to it. Ids are not empty and hold no NUL
 * and no lone surrogate.
 */
export interface ReadModelStore {
  /** Makes what a version of a read model needs (tables, indexes). Repeating it changes nothing. */
  prepare(model: ReadModel): Promise<void>;

  get(model: ReadModel, id: string): Promise<StoredDocument | null>;

  /** As `get`, for many at once; ids that have no document are missing in the answer. */
  getMany(model: ReadModel, ids: readonly string[]): Promise<ReadonlyMap<string, StoredDocument>>;

  /** Documents that match `query`, by id (as UTF-8 bytes); deleted ones are left out. A field in `where` without an index is a TypeError. */
  find(model: ReadModel, query: ReadModelQuery): Promise<readonly StoredDocument[]>;

  /**
   * Writes each document unless the stored one reflects the same or a later position, then moves the checkpoint forward
   * (never back). A `null` body leaves a tombstone, which keeps guarding until `purgeTombstones`.
   */
  apply(model: ReadModel, writes: readonly DocumentWrite[], checkpoint: bigint): Promise<void>;

  /** The position up to which the model reflects the log; `START` before the first `apply`. */
  checkpoint(model: ReadModel): Promise<bigint>;

  /**
   * Resolves `true` as soon as the checkpoint is at `position` or later, whichever process moved it; `false` when `signal`
   * is aborted first.
   */
  reached(model: ReadModel, position: bigint, signal: AbortSignal): Promise<boolean>;

  /** The version that answers reads; `null` before the first `publish`. */
  liveVersion(name: string): Promise<string | null>;

  /** Makes `model.version` the one that answers reads, at once for every process, and drops the other versions' documents. */
  publish(model: ReadModel): Promise<void>;

  /** Removes tombstones that reflect a position before `before`. */
  purgeTombstones(model: ReadModel, before: bigint): Promise<void>;

  /** Small records that are not read models: answers kept for idempotency keys, workers' positions, leases. */
  readonly records: RecordStore;

  /** Resolves when the store answers. */
  ping(): Promise<void>;

  close(): Promise<void>;
}

/** A version of a read model; versions of one name live side by side. */
export interface ReadModel {
  readonly name: string;
  /** The projection's version, with a suffix while a rebuild of the same version runs beside it. */
  readonly version: string;
  readonly indexes: readonly ReadModelIndex[];
}

export interface StoredDocument {
  readonly id: string;
  /** Revision in its own stream of the last event that it reflects. */
  readonly revision: bigint;
  /** Position in the log of the last event that it reflects. */
  readonly position: bigint;
  readonly body: JsonObject;
}

export interface DocumentWrite {
  readonly id: string;
  readonly revision: bigint;
  readonly position: bigint;
  /** `null` deletes. */
  readonly body: JsonObject | null;
}

export interface ReadModelQuery {
  /** Indexed fields that must equal a value, or one of several (`[]` matches nothing); an array field matches by any element. */
  readonly where?: Readonly<Record<string, string | readonly string[]>>;
  /** Fields of which at least one must contain `text`, ignoring case. */
  readonly search?: { readonly fields: readonly string[]; readonly text: string };
  /** By id. */
  readonly order: 'ascending' | 'descending';
  /** Exclusive: go on after this id, in the order asked for. */
  readonly after?: string;
  readonly limit: number;
}

export interface RecordStore {
  get(collection: string, key: string): Promise<JsonObject | null>;
  /** Writes the record unless one that has not expired is there; says whether it did. Exactly one of many at once does. */
  insert(collection: string, key: string, value: JsonObject, expiresAt?: number): Promise<boolean>;
  /** Writes the record, whatever is there. `expiresAt` is in milliseconds since the epoch; an expired record is as good as absent. */
  put(collection: string, key: string, value: JsonObject, expiresAt?: number): Promise<void>;
  delete(collection: string, key: string): Promise<void>;
  /** Gives back the room of records that have expired, in every collection; resolves with how many there were. */
  purgeExpired(): Promise<number>;
}

export class ReadModelDropped extends Error {
  override readonly name = 'ReadModelDropped';

  constructor(model: ReadModel) {
    super(`version ${model.version} of read model ${model.name} is not prepared, or was dropped`);
  }
}

export class ReadModelStoreUnavailable extends Error {
  override readonly name = 'ReadModelStoreUnavailable';
}
