import { createRequire } from 'node:module';
import codes from '@eventstore/db-client/generated/code_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import statuses from '@eventstore/db-client/generated/status_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeAppendAnswer,
  encodeAppend,
  keyOf,
  type ExactAppend,
} from '../../../src/events/store/eventStoreDb/appendMessages.js';
import { AppendFault } from '../../../src/events/store/eventStoreDb/faults.js';

/** The generated classes of the client are the measure: they read what is written, and write what is read. */

const uint64 = fc.integer({ min: 0, max: 64 }).chain((bits) => fc.bigInt(0n, 2n ** BigInt(bits) - 1n));
const text = fc.string({ unit: 'grapheme' });
const bytes = fc.uint8Array({ maxLength: 400, size: 'max' });
const event = fc.record({ id: fc.uuid(), type: text, data: bytes, metadata: bytes });

/** What the classes of the client read. */
const asRead = (append: ExactAppend): unknown => {
  const request = messages.BatchAppendReq.deserializeBinary(encodeAppend(append));
  const options = request.getOptions();
  return {
    id: request.getCorrelationId()?.getString(),
    stream: Buffer.from(options?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString('utf8'),
    expected: options?.hasNoStream() === true ? -1n : BigInt(options?.getStreamPosition() ?? 0),
    isFinal: request.getIsFinal(),
    hasDeadline: options?.hasDeadline(),
    events: request.getProposedMessagesList().map((message) => ({
      id: message.getId()?.getString(),
      properties: message.getMetadataMap().toObject(),
      data: Buffer.from(message.getData_asU8()).toString('hex'),
      metadata: Buffer.from(message.getCustomMetadata_asU8()).toString('hex'),
    })),
  };
};

const asWritten = ({ id, stream, events, expected }: ExactAppend): unknown => ({
  ...{ id, stream, expected, isFinal: true, hasDeadline: false },
  events: events.map(({ id: eventId, type, data, metadata }) => ({
    id: eventId,
    properties: [
      ['content-type', 'application/json'],
      ['type', type],
    ],
    data: Buffer.from(data).toString('hex'),
    metadata: Buffer.from(metadata).toString('hex'),
  })),
});

test('any append is read by the classes of the client as it was written', () => {
  const expected = fc.oneof(fc.constant(-1n), uint64);
  fc.assert(
    fc.property(fc.record({ id: fc.uuid(), stream: text, events: fc.array(event, { maxLength: 4 }), expected }), (append) => {
      expect(asRead(append)).toEqual(asWritten(append));
    }),
  );
});

test('an append of 1 MiB, and one of many events', () => {
  const large = { id: crypto.randomUUID(), type: 'Happened', data: Buffer.alloc(1_048_576, 'x'), metadata: Buffer.alloc(0) };
  const small = Array.from({ length: 500 }, () => ({ ...large, id: crypto.randomUUID(), data: Buffer.from('{}') }));
  for (const events of [[large], small]) {
    const append = { id: crypto.randomUUID(), stream: 'thing-1', events, expected: 300n };
    expect(asRead(append)).toEqual(asWritten(append));
  }
});

const inNumbers = (id: string): shared.UUID => {
  const bits = (from: number): string => String(BigInt.asIntN(64, BigInt(`0x${keyOf(id).slice(from, from + 16)}`)));
  return new shared.UUID().setStructured(
    new shared.UUID.Structured().setMostSignificantBits(bits(0)).setLeastSignificantBits(bits(16)),
  );
};

const encoded = (answer: messages.BatchAppendResp): Buffer => Buffer.from(answer.serializeBinary());

const successAt = (revision: bigint, position: bigint | null): messages.BatchAppendResp.Success => {
  const success = new messages.BatchAppendResp.Success().setCurrentRevision(String(revision));
  if (position === null) return success;
  return success.setPosition(new shared.AllStreamPosition().setCommitPosition(String(position)).setPreparePosition('99'));
};

test('any success is read as the classes of the client write it, with the id as two numbers or as text', () => {
  fc.assert(
    fc.property(fc.uuid(), uint64, fc.option(uint64), fc.boolean(), (id, revision, position, isText) => {
      const answer = new messages.BatchAppendResp()
        .setCorrelationId(isText ? new shared.UUID().setString(id) : inNumbers(id))
        .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from('thing-1')))
        .setSuccess(successAt(revision, position));
      expect(decodeAppendAnswer(encoded(answer))).toEqual({ key: keyOf(id), outcome: { written: true, revision, position } });
    }),
  );
});

test.each([
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '00000000-8000-0000-8000-000000000001',
])('the id %s is read from numbers', (id) => {
  const answer = new messages.BatchAppendResp().setCorrelationId(inNumbers(id)).setSuccess(successAt(0n, 1n));
  expect(decodeAppendAnswer(encoded(answer)).key).toBe(keyOf(id));
});

type Code = ReturnType<statuses.Status['getCode']>;

const { Any } = createRequire(createRequire(import.meta.url).resolve('@eventstore/db-client'))(
  'google-protobuf/google/protobuf/any_pb.js',
) as { readonly Any: new () => NonNullable<ReturnType<statuses.Status['getDetails']>> };

const refusal = (code: Code, message: string, type: string, value: Uint8Array): messages.BatchAppendResp => {
  const details = new Any();
  details.setTypeUrl(`type.googleapis.com/${type}`);
  details.setValue(value);
  const error = new statuses.Status().setMessage(message).setDetails(details);
  error.setCode(code);
  return new messages.BatchAppendResp().setCorrelationId(inNumbers(crypto.randomUUID())).setError(error);
};

describe('refusals', () => {
  const wrongVersion = 'event_store.client.WrongExpectedVersion';

  test.each<[string, shared.WrongExpectedVersion, bigint]>([
    ['a revision', new shared.WrongExpectedVersion().setCurrentStreamRevision('7'), 7n],
    ['no stream', new shared.WrongExpectedVersion(), -1n],
  ])('a wrong version, with %s', (_what, wrong, actual) => {
    const answer = decodeAppendAnswer(
      encoded(refusal(codes.Code.ALREADY_EXISTS, 'WrongExpectedVersion', wrongVersion, wrong.serializeBinary())),
    );
    expect(answer.outcome).toEqual({ written: false, actual });
  });

  test.each<[string, Code, number]>([
    ['a fault keeps its code', codes.Code.DEADLINE_EXCEEDED, 4],
    ['an append that was not handled has none', codes.Code.OK, 14],
  ])('%s', (_what, code, read) => {
    const { outcome } = decodeAppendAnswer(encoded(refusal(code, 'the words', 'google.protobuf.Empty', new Uint8Array())));
    expect(outcome).toBeInstanceOf(AppendFault);
    expect(outcome).toMatchObject({ code: read, details: 'the words' });
  });

  test('neither success nor refusal', () => {
    expect(decodeAppendAnswer(encoded(new messages.BatchAppendResp())).outcome).toMatchObject({ code: null });
  });
});

test('an answer that is cut off is never taken for another one', () => {
  const id = crypto.randomUUID();
  const whole = encoded(new messages.BatchAppendResp().setSuccess(successAt(300n, 70_000n)).setCorrelationId(inNumbers(id)));
  const { outcome } = decodeAppendAnswer(whole);
  for (let length = 0; length < whole.length; length += 1) {
    let read: ReturnType<typeof decodeAppendAnswer> | null = null;
    try {
      read = decodeAppendAnswer(whole.subarray(0, length));
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
    }
    if (read !== null && read.key === keyOf(id) && !(read.outcome instanceof AppendFault)) expect(read.outcome).toEqual(outcome);
  }
});
