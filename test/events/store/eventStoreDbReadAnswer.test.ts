import shared from '@eventstore/db-client/generated/shared_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeReadAnswer } from '../../../src/events/store/eventStoreDb/readAnswer.js';

/** The generated classes of the client are the measure: what they write is read back. */
const encoded = (answer: messages.ReadResp): Buffer => Buffer.from(answer.serializeBinary());

const recorded = (stream: string, properties: Readonly<Record<string, string>>): messages.ReadResp.ReadEvent.RecordedEvent => {
  const event = new messages.ReadResp.ReadEvent.RecordedEvent();
  event.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)));
  for (const [name, value] of Object.entries(properties)) event.getMetadataMap().set(name, value);
  return event;
};

const answerWith = (event: messages.ReadResp.ReadEvent.RecordedEvent): messages.ReadResp =>
  new messages.ReadResp().setEvent(new messages.ReadResp.ReadEvent().setEvent(event).setCommitPosition('7'));

/** Numbers of each length that the encoding has. */
const uint64 = fc.integer({ min: 0, max: 64 }).chain((bits) => fc.bigInt(0n, 2n ** BigInt(bits) - 1n));

test('any event is read as the classes of the client write it', () => {
  const bytes = fc.uint8Array({ maxLength: 400, size: 'max' });
  fc.assert(
    fc.property(fc.uuid(), fc.string({ unit: 'grapheme' }), fc.string(), uint64, uint64, bytes, bytes, (...values) => {
      const [id, stream, type, revision, position, data, metadata] = values;
      const event = recorded(stream, { created: '123', 'content-type': 'application/json', type })
        .setId(new shared.UUID().setString(id))
        .setStreamRevision(String(revision))
        .setCommitPosition(String(position))
        .setPreparePosition('99')
        .setCustomMetadata(metadata)
        .setData(data);
      const answer = decodeReadAnswer(encoded(answerWith(event)));
      expect(answer).toMatchObject({ kind: 'event', record: { id, stream, type, revision, position } });
      if (answer.kind !== 'event') return;
      expect(Buffer.compare(answer.record.data, data)).toBe(0);
      expect(Buffer.compare(answer.record.metadata, metadata)).toBe(0);
    }),
  );
});

test('an event of 1 MiB is read', () => {
  const data = Buffer.alloc(1_048_576, 'x');
  const answer = decodeReadAnswer(encoded(answerWith(recorded('thing-1', {}).setData(data))));
  expect(answer.kind === 'event' && Buffer.compare(answer.record.data, data)).toBe(0);
});

test('what an event leaves out is empty', () => {
  expect(decodeReadAnswer(encoded(answerWith(recorded('thing-1', {}))))).toEqual({
    kind: 'event',
    record: {
      ...{ id: '', type: '', stream: 'thing-1', revision: 0n, position: 0n },
      ...{ data: new Uint8Array(), metadata: new Uint8Array() },
    },
  });
});

describe.each<[string, messages.ReadResp, object]>([
  [
    'a checkpoint',
    new messages.ReadResp().setCheckpoint(new messages.ReadResp.Checkpoint().setCommitPosition('300').setPreparePosition('299')),
    { kind: 'passed', position: 300n },
  ],
  ['that it has caught up', new messages.ReadResp().setCaughtUp(new messages.ReadResp.CaughtUp()), { kind: 'caught up' }],
  ['no stream', new messages.ReadResp().setStreamNotFound(new messages.ReadResp.StreamNotFound()), { kind: 'no stream' }],
  ['the head of a stream', new messages.ReadResp().setLastStreamPosition('0'), { kind: 'head', revision: 0n }],
  [
    'the largest head',
    new messages.ReadResp().setLastStreamPosition(String(2n ** 64n - 1n)),
    { kind: 'head', revision: 2n ** 64n - 1n },
  ],
  ['the first revision', new messages.ReadResp().setFirstStreamPosition('5'), { kind: 'other' }],
  ['that it fell behind', new messages.ReadResp().setFellBehind(new messages.ReadResp.FellBehind()), { kind: 'other' }],
  [
    'a confirmation',
    new messages.ReadResp().setConfirmation(new messages.ReadResp.SubscriptionConfirmation().setSubscriptionId('id')),
    { kind: 'other' },
  ],
  [
    'a link whose event is gone',
    new messages.ReadResp().setEvent(new messages.ReadResp.ReadEvent().setLink(recorded('thing-1', { type: '$>' }))),
    { kind: 'other' },
  ],
  ['nothing', new messages.ReadResp(), { kind: 'other' }],
])('an answer that says %s', (_name, answer, expected) => {
  test('is read', () => {
    expect(decodeReadAnswer(encoded(answer))).toEqual(expected);
  });

  test('is read beside fields of a later version of the protocol', () => {
    const [number, fixed64, text, fixed32] = [
      [0xf8, 0x07, 0x80, 0x01],
      [0xf9, 0x07, ...Array.from({ length: 8 }, () => 1)],
      [0xfa, 0x07, 3, 8, 8, 8],
      [0xfd, 0x07, 1, 2, 3, 4],
    ].map((bytes) => Buffer.from(bytes));
    const later = Buffer.concat([number, fixed64, text, fixed32].filter((bytes) => bytes !== undefined));
    expect(decodeReadAnswer(Buffer.concat([later, encoded(answer), later]))).toEqual(expected);
  });
});

test('an answer that was cut off is refused, wherever that is', () => {
  const event = recorded('thing-1', { type: 'Happened' }).setData(Buffer.from('{}')).setStreamRevision('1000');
  const whole = encoded(answerWith(event));
  for (let length = 1; length < whole.length; length += 1)
    expect(() => decodeReadAnswer(whole.subarray(0, length))).toThrow(RangeError);
});

test.each([
  ['a number without end', [0x30, ...Array.from({ length: 11 }, () => 0xff)]],
  ['a kind of field that there is not', [0xff, 0x07, 1]],
  ['a size beyond the end', [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]],
  ['a fixed number that is cut off', [0xf9, 0x07, 1, 2]],
])('%s is refused', (_name, bytes) => {
  expect(() => decodeReadAnswer(Buffer.from(bytes))).toThrow(RangeError);
});
