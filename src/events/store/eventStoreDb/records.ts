import type { EventMetadata, JsonObject } from '../../envelope.js';
import type { EncodedEvent } from '../encodeEvents.js';
import type { StoredEvent } from '../eventStore.js';

/**
 * An event as EventStoreDB keeps it. `data` and `metadata` are the texts of `encodeEvents`, byte for byte, so that an operator reads plain
 * JSON; what EventStoreDB has no place for stands beside the metadata: `{"schemaVersion":1,"recordedAt":"…","metadata":{…}}`.
 */
export interface WireEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** An event as it is read, not decoded yet. */
export interface WireRecord extends WireEvent {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
}

/** @param recordedAt ISO 8601 UTC; given by the adapter, since the server's clock may step back within a stream. */
export const toWire = ({ id, type, schemaVersion, data, metadata }: EncodedEvent, recordedAt: string): WireEvent => ({
  id,
  type,
  data: Buffer.from(data),
  metadata: Buffer.from(`{"schemaVersion":${String(schemaVersion)},"recordedAt":"${recordedAt}","metadata":${metadata}}`),
});

/** The event; `null` when it is not one of ours (the server's own, or another program's on the same server). */
export const fromWire = (record: WireRecord): StoredEvent | null => {
  const { id, type, stream, revision, position } = record;
  if (isSystem(record)) return null;
  const beside = parse(record.metadata);
  const data = parse(record.data);
  if (!isObject(beside) || !isObject(data)) return null;
  const { schemaVersion, recordedAt, metadata } = beside;
  if (typeof schemaVersion !== 'number' || typeof recordedAt !== 'string' || !isObject(metadata)) return null;
  return {
    id,
    type,
    schemaVersion,
    data: data as JsonObject,
    metadata: metadata as unknown as EventMetadata,
    stream,
    revision,
    position,
    recordedAt,
  };
};

/** Whether the server wrote it for itself. */
export const isSystem = ({ stream, type }: Pick<WireRecord, 'stream' | 'type'>): boolean =>
  stream.startsWith('$') || type.startsWith('$');

/** `undefined` for what is not JSON: another program's. */
const parse = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
