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

/** How a field of a message begins: its number, and how its value is written. */
const numeric = (field: number): number => field * 8;
const sized = (field: number): number => field * 8 + 2;

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
    if (tag === recordedFields.id) id = readOnly(reader, idFields.text);
    else if (tag === recordedFields.stream) stream = readOnly(reader, streamFields.name);
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

/** The only text that is wanted of a message. */
const readOnly = (reader: Reader, wanted: number): string => {
  let text = '';
  readMessage(reader, (tag) => {
    if (tag === wanted) text = readText(reader);
  });
  return text;
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

/** The encoding of protocol buffers. */
interface Reader {
  readonly bytes: Buffer;
  at: number;
}

/** Reads the fields of a message that ends at `end`. What `onField` does not read is passed over. */
const readFields = (reader: Reader, end: number, onField: (tag: number) => void): void => {
  while (reader.at < end) {
    const tag = readSize(reader);
    const { at } = reader;
    onField(tag);
    if (reader.at === at) passOver(reader, tag);
  }
  if (reader.at > end) throw endsEarly();
};

/** As `readFields`, of a message that is the value of a field. */
const readMessage = (reader: Reader, onField: (tag: number) => void): void => {
  const end = readEnd(reader);
  readFields(reader, end, onField);
};

const readBytes = (reader: Reader): Buffer => {
  const end = readEnd(reader);
  const bytes = reader.bytes.subarray(reader.at, end);
  reader.at = end;
  return bytes;
};

const readText = (reader: Reader): string => {
  const end = readEnd(reader);
  const text = reader.bytes.toString('utf8', reader.at, end);
  reader.at = end;
  return text;
};

/** Where the value ends whose size comes next. */
const readEnd = (reader: Reader): number => {
  const size = readSize(reader);
  const end = reader.at + size;
  if (end > reader.bytes.length) throw endsEarly();
  return end;
};

/** A tag or a size. */
const readSize = (reader: Reader): number => {
  const first = reader.bytes[reader.at];
  if (first === undefined || first >= 128) return Number(readNumber(reader));
  reader.at += 1;
  return first;
};

/** Seven bits in each byte, the lowest first. Up to 49 bits are added up without bigints, which take longer. */
const readNumber = (reader: Reader): bigint => {
  let low = 0;
  for (let factor = 1; factor < 2 ** 49; factor *= 128) {
    const byte = readByte(reader);
    low += (byte % 128) * factor;
    if (byte < 128) return BigInt(low);
  }
  let value = BigInt(low);
  for (let shift = 49n; shift < 70n; shift += 7n) {
    const byte = readByte(reader);
    value += BigInt(byte % 128) << shift;
    if (byte < 128) return BigInt.asUintN(64, value);
  }
  throw new RangeError('a number in an answer of the event store is too long');
};

const readByte = (reader: Reader): number => {
  const byte = reader.bytes[reader.at];
  if (byte === undefined) throw endsEarly();
  reader.at += 1;
  return byte;
};

/** By the kind of value that a tag names in its lowest three bits. */
const passOver = (reader: Reader, tag: number): void => {
  const kind = tag % 8;
  if (kind === 0) readNumber(reader);
  else if (kind === 1) reader.at += 8;
  else if (kind === 2) reader.at = readEnd(reader);
  else if (kind === 5) reader.at += 4;
  else throw new RangeError('an answer of the event store has a field of an unknown kind');
};

const endsEarly = (): RangeError => new RangeError('an answer of the event store ends early');
