import shared from '@eventstore/db-client/generated/shared_pb.js';
import type status from '@eventstore/db-client/generated/status_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { NO_STREAM } from '../eventStore.js';
import { AppendFault } from './faults.js';
import {
  createWriter,
  MAX_FIELD_BYTES,
  maxTextBytes,
  numeric,
  readFields,
  readHex,
  readMessage,
  readNumber,
  readText,
  sized,
  wrap,
  writeBytes,
  writeNumber,
  writeText,
  type Reader,
  type Writer,
} from './protocolBuffers.js';
import type { WireEvent } from './records.js';

/** An append that the server recognises when it is repeated. */
export interface ExactAppend {
  /** Unique among the appends of all clients. */
  readonly id: string;
  readonly stream: string;
  readonly events: readonly WireEvent[];
  readonly expected: bigint;
}

/**
 * `position` is `null` when the server recognised a repetition and does not know the position any
 * more.
 */
export type AppendReply =
  | { readonly written: true; readonly revision: bigint; readonly position: bigint | null }
  | { readonly written: false; readonly actual: bigint };

/** The answer to the append with the id of this key. */
export interface AppendAnswer {
  readonly key: string;
  readonly outcome: AppendReply | AppendFault;
}

/** Fields of the protocol's `streams.proto` and `shared.proto`. */
const requestFields = { id: sized(1), options: sized(2), event: sized(3), isFinal: numeric(4) };
const optionFields = { stream: sized(1), revision: numeric(2), noStream: sized(3) };
const eventFields = { id: sized(1), properties: sized(2), metadata: sized(3), data: sized(4) };
const propertyFields = { name: sized(1), value: sized(2) };
const idFields = { numbers: sized(1), text: sized(2) };
const idNumberFields = { high: numeric(1), low: numeric(2) };
const streamFields = { name: sized(3) };
const answerFields = { id: sized(1), error: sized(2), success: sized(3) };
const successFields = { revision: numeric(1), position: sized(3) };
const positionFields = { commit: numeric(1) };

/** How answers name the append with an id. */
export const keyOf = (id: string): string => id.replaceAll('-', '');

/** A `BatchAppendReq` of the protocol. */
export const encodeAppend = ({ id, stream, events, expected }: ExactAppend): Buffer => {
  const writer = createWriter(
    events.reduce((sum, event) => sum + maxEventBytes(event), maxTextBytes(stream) + maxTextBytes(id) + 64),
  );
  writeNumber(writer, requestFields.isFinal, 1n);
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const event = events[index];
    if (event !== undefined) writeEvent(writer, event);
  }
  writeOptions(writer, stream, expected);
  writeId(writer, requestFields.id, id);
  return writer.bytes.subarray(writer.at);
};

const writeOptions = (writer: Writer, stream: string, expected: bigint): void => {
  const end = writer.at;
  if (expected < 0n) writeText(writer, optionFields.noStream, '');
  else writeNumber(writer, optionFields.revision, expected);
  const streamEnd = writer.at;
  writeText(writer, streamFields.name, stream);
  wrap(writer, optionFields.stream, streamEnd);
  wrap(writer, requestFields.options, end);
};

const contentType = { name: 'content-type', value: 'application/json' };

const writeEvent = (writer: Writer, { id, type, data, metadata }: WireEvent): void => {
  const end = writer.at;
  writeBytes(writer, eventFields.data, data);
  writeBytes(writer, eventFields.metadata, metadata);
  writeProperty(writer, contentType.name, contentType.value);
  writeProperty(writer, 'type', type);
  writeId(writer, eventFields.id, id);
  wrap(writer, requestFields.event, end);
};

const writeProperty = (writer: Writer, name: string, value: string): void => {
  const end = writer.at;
  writeText(writer, propertyFields.value, value);
  writeText(writer, propertyFields.name, name);
  wrap(writer, eventFields.properties, end);
};

const writeId = (writer: Writer, tag: number, id: string): void => {
  const end = writer.at;
  writeText(writer, idFields.text, id);
  wrap(writer, tag, end);
};

const maxEventBytes = ({ id, type, data, metadata }: WireEvent): number =>
  data.length + metadata.length + maxTextBytes(type) + maxTextBytes(id) + 12 * MAX_FIELD_BYTES;

/**
 * Decodes a `BatchAppendResp` of the protocol. What is refused is rare, and left to the client's classes.
 * @throws RangeError when `bytes` are no such message
 */
export const decodeAppendAnswer = (bytes: Buffer): AppendAnswer => {
  let key = '';
  let isRefused = false as boolean;
  let success = null as AppendReply | null;
  const reader = { bytes, at: 0 };
  readFields(reader, bytes.length, (tag) => {
    if (tag === answerFields.id) key = readKey(reader);
    else if (tag === answerFields.success) success = readSuccess(reader);
    else if (tag === answerFields.error) isRefused = true;
  });
  return { key, outcome: isRefused ? refusalIn(bytes) : (success ?? new AppendFault(noOutcome)) };
};

const noOutcome = { code: null, details: 'the event store answered an append with neither success nor refusal' };

/** The server answers with the id as two numbers, and refuses some appends with the text that it got. */
const readKey = (reader: Reader): string => {
  let key = '';
  readMessage(reader, (tag) => {
    if (tag === idFields.text) key = keyOf(readText(reader));
    else if (tag === idFields.numbers) key = readIdNumbers(reader);
  });
  return key;
};

const readIdNumbers = (reader: Reader): string => {
  let [high, low] = [NO_BITS, NO_BITS];
  readMessage(reader, (tag) => {
    if (tag === idNumberFields.high) high = readHex(reader);
    else if (tag === idNumberFields.low) low = readHex(reader);
  });
  return high + low;
};

const NO_BITS = '0'.repeat(16);

const readSuccess = (reader: Reader): AppendReply => {
  let revision = 0n;
  let position: bigint | null = null;
  readMessage(reader, (tag) => {
    if (tag === successFields.revision) revision = readNumber(reader);
    else if (tag === successFields.position) position = readPosition(reader);
  });
  return { written: true, revision, position };
};

const readPosition = (reader: Reader): bigint => {
  let position = 0n;
  readMessage(reader, (tag) => {
    if (tag === positionFields.commit) position = readNumber(reader);
  });
  return position;
};

/** gRPC status codes. */
const OK = 0;
const UNAVAILABLE = 14;

const refusalIn = (bytes: Buffer): AppendReply | AppendFault => {
  const error = messages.BatchAppendResp.deserializeBinary(bytes).getError();
  if (error === undefined) return new AppendFault(noOutcome);
  const actual = actualRevision(error);
  if (actual !== null) return { written: false, actual };
  const code: number = error.getCode();
  // A node that did not handle the append says so by words alone, without a code.
  return new AppendFault({ code: code === OK ? UNAVAILABLE : code, details: error.getMessage() });
};

/** `null` when the append was refused for another reason. */
const actualRevision = (error: status.Status): bigint | null => {
  const details = error.getDetails();
  if (details?.getTypeUrl().endsWith('event_store.client.WrongExpectedVersion') !== true) return null;
  const wrong = shared.WrongExpectedVersion.deserializeBinary(details.getValue_asU8());
  return wrong.hasCurrentStreamRevision() ? BigInt(wrong.getCurrentStreamRevision()) : NO_STREAM;
};
