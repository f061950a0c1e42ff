import {
  numeric,
  readBytes,
  readFields,
  readMessage,
  readNumber,
  readOnlyText,
  readText,
  sized,
  type Reader,
} from './protocolBuffers.js';
import type { WireRecord } from './records.js';

/**
 * What the server sends in answer to a read. `passed`: every event up to the position was read.
 * `caught up`: every event from before the call was delivered. `head`: the last revision of the
 * stream that is read.
 */
export type ReadAnswer =
  | { readonly kind: 'event'; readonly record: WireRecord }
  | { readonly kind: 'passed'; readonly position: bigint }
  | { readonly kind: 'caught up' }
  | { readonly kind: 'no stream' }
  | { readonly kind: 'head'; readonly revision: bigint }
  | { readonly kind: 'other' };

/** Fields of the protocol's `streams.proto` and `shared.proto`. */
const answerFields = { event: sized(1), checkpoint: sized(3), noStream: sized(4), head: numeric(6), caughtUp: sized(8) };
const eventFields = { recorded: sized(1) };
const checkpointFields = { position: numeric(1) };
const recordedFields = {
  id: sized(1),
  stream: sized(2),
  revision: numeric(3),
  position: numeric(5),
  properties: sized(6),
  metadata: sized(7),
  data: sized(8),
};
const idFields = { text: sized(2) };
const streamFields = { name: sized(3) };
const propertyFields = { name: sized(1), value: sized(2) };

/**
 * Decodes a `ReadResp` of the protocol, only what the adapter wants of it: the client's own classes
 * take several times as long, for each event of the log. As in every reader of protocol buffers,
 * fields that it does not know are passed over. Data and metadata share the memory of `bytes`.
 *
 * @throws RangeError when `bytes` are no such message
 */
export const decodeReadAnswer = (bytes: Buffer): ReadAnswer => {
  let answer: ReadAnswer = { kind: 'other' };
  const reader = { bytes, at: 0 };
  readFields(reader, bytes.length, (tag) => {
    if (tag === answerFields.event) answer = readEvent(reader);
    else if (tag === answerFields.checkpoint) answer = { kind: 'passed', position: readCheckpoint(reader) };
    else if (tag === answerFields.noStream) answer = { kind: 'no stream' };
    else if (tag === answerFields.head) answer = { kind: 'head', revision: readNumber(reader) };
    else if (tag === answerFields.caughtUp) answer = { kind: 'caught up' };
  });
  return answer;
};

const readEvent = (reader: Reader): ReadAnswer => {
  let record = null as WireRecord | null;
  readMessage(reader, (tag) => {
    if (tag === eventFields.recorded) record = readRecord(reader);
  });
  return record === null ? { kind: 'other' } : { kind: 'event', record };
};

const readRecord = (reader: Reader): WireRecord | null => {
  let [id, type, revision, position] = ['', '', 0n, 0n];
  let stream = null as string | null;
  let [data, metadata] = [noBytes, noBytes];
  readMessage(reader, (tag) => {
    if (tag === recordedFields.id) id = readOnlyText(reader, idFields.text);
    else if (tag === recordedFields.stream) stream = readOnlyText(reader, streamFields.name);
    else if (tag === recordedFields.revision) revision = readNumber(reader);
    else if (tag === recordedFields.position) position = readNumber(reader);
    else if (tag === recordedFields.properties) type = readProperty(reader, 'type') ?? type;
    else if (tag === recordedFields.metadata) metadata = readBytes(reader);
    else if (tag === recordedFields.data) data = readBytes(reader);
  });
  return stream === null ? null : { id, type, data, metadata, stream, revision, position };
};

const noBytes: Uint8Array = new Uint8Array();

const readCheckpoint = (reader: Reader): bigint => {
  let position = 0n;
  readMessage(reader, (tag) => {
    if (tag === checkpointFields.position) position = readNumber(reader);
  });
  return position;
};

/** The value of an entry of a map, if it has this name. */
const readProperty = (reader: Reader, wanted: string): string | undefined => {
  let [name, value] = ['', ''];
  readMessage(reader, (tag) => {
    if (tag === propertyFields.name) name = readText(reader);
    else if (tag === propertyFields.value) value = readText(reader);
  });
  return name === wanted ? value : undefined;
};
