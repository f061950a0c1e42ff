import type { EventMetadata, JsonObject } from '../../envelope.js';
import type { EncodedEvent } from '../encodeEvents.js';
import type { StoredEvent } from '../eventStore.js';

/**
 * An event as EventStoreDB stores it. `data` and `metadata` are the texts of `encodeEvents`, byte
 * for byte, so that an operator reads plain JSON. Fields that EventStoreDB has no place for wrap
 * the metadata: `{"schemaVersion":1,"recordedAt":"…","metadata":{…}}`.
 */
export interface WireEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** An event as it was read, before it is decoded. */
export interface WireRecord extends WireEvent {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
}

/**
 * @param recordedAt ISO 8601 UTC, set by the adapter, because the server's clock may go back within
 * a stream.
 */
export const toWire = ({ id, type, schemaVersion, data, metadata }: EncodedEvent, recordedAt: string): WireEvent => ({
  id,
  type,
  data: Buffer.from(data),
  metadata: Buffer.from(`{"schemaVersion":${String(schemaVersion)},"recordedAt":"${recordedAt}","metadata":${metadata}}`),
});

/** The event, or `null` when it is not one of ours but the server's or another program's. */
export const fromWire = (record: WireRecord): StoredEvent | null => {
  const { id, type, stream, revision, position } = record;
  if (isSystem(record)) return null;
  const envelope = parse(record.metadata);
  const data = parse(record.data);
  if (!isObject(envelope) || !isObject(data)) return null;
  const { schemaVersion, recordedAt, metadata } = envelope;
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

/** Of what it holds. */
export const bytesOf = ({ data, metadata }: Pick<WireRecord, 'data' | 'metadata'>): number => data.length + metadata.length;

/** Whether it is one of the server's own events. */
const isSystem = ({ stream, type }: Pick<WireRecord, 'stream' | 'type'>): boolean =>
  stream.startsWith('$') || type.startsWith('$');

/** The value, or `undefined` when the bytes are not JSON, as in another program's event. */
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
