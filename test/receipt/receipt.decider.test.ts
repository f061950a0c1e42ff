import { describe, expect, test } from '@jest/globals';
import type { RecordLook } from '../../src/commands/receipt/receipt.commands.js';
import { receiptDecider } from '../../src/commands/receipt/receipt.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { Recorded } from '../../src/events/envelope.js';
import type { ReceiptEvent } from '../../src/events/receipt/receipt.events.js';
import { looksAfter, maxLooks, type Looks } from '../../src/events/receipt/receipt.looks.js';
import { earlierReceiptStream, receiptStream } from '../../src/events/receipt/receipt.stream.js';
import { expectRepeatable, given, recorded, type Timeless } from '../support/given.js';

const time = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();

const look = (changes: Partial<RecordLook> = {}): Timeless<RecordLook> => ({
  type: 'RecordLook',
  websiteId: 'w1',
  readerId: 'c1',
  clientId: 'c1',
  revision: 3,
  current: 5,
  at: time(1_000),
  ...changes,
});

const seen = (revision = 3): ReceiptEvent => ({
  type: 'DeliveryRevisionSeen',
  data: { websiteId: 'w1', readerId: 'c1', clientId: 'c1', revision },
});

const seenAt = (seconds: number, revision?: number): Recorded<ReceiptEvent> => recorded(seen(revision), { at: time(seconds) });

describe('a look', () => {
  test('is recorded, also of a revision that is not the latest', () => {
    given(receiptDecider).when(look()).then([seen()]);
    given(receiptDecider)
      .when(look({ revision: 5 }))
      .then([seen(5)]);
  });

  test('of an admin names no client', () => {
    given(receiptDecider)
      .when(look({ readerId: 'index', clientId: undefined }))
      .then([{ type: 'DeliveryRevisionSeen', data: { websiteId: 'w1', readerId: 'index', revision: 3 } }]);
  });

  test.each([
    ['at the same revision within a minute adds nothing', 941, 3, []],
    ['at the same revision a minute later is recorded', 940, 3, [seen()]],
    ['at an older revision within a minute adds nothing', 941, 4, []],
    ['at an older revision a minute later is recorded', 940, 4, [seen()]],
    ['at a newer revision is recorded at once', 999, 2, [seen()]],
  ] as const)('%s', (_, before, revision, then) => {
    given(receiptDecider, [seenAt(before, revision)])
      .when(look())
      .then(then);
  });

  test.each([
    ['within a minute adds nothing', { revision: 3, lastAt: time(941) }, undefined, []],
    ['a minute later is recorded', { revision: 3, lastAt: time(940) }, undefined, [seen()]],
    ['at a newer revision is recorded at once', { revision: 2, lastAt: time(999) }, undefined, [seen()]],
    ['counts with those since', { revision: 4, lastAt: time(0) }, seenAt(999, 1), []],
  ] as const)('after one that is recorded in the stream of before %s', (_, earlier, since, then) => {
    given(receiptDecider, since === undefined ? [] : [since])
      .when(look({ earlier }))
      .then(then);
  });

  test('repeated changes nothing', () => {
    expectRepeatable(receiptDecider, [seenAt(0)], look());
  });

  test('at a revision that the block has not reached is refused', () => {
    given(receiptDecider)
      .when(look({ revision: 6 }))
      .thenRefused(refusals.invalidBody('revision', 'is not a change of this delivery block'));
  });

  test('at a block that is not set up is refused', () => {
    given(receiptDecider)
      .when(look({ revision: 0, current: null }))
      .thenRefused(refusals.deliveryNotSetUp('w1'));
  });
});

describe('what is kept of a person’s looks', () => {
  const after = (looks: readonly (readonly [seconds: number, revision: number])[]): Looks | undefined =>
    looks.reduce<Looks | undefined>((before, [seconds, revision]) => looksAfter(before, revision, time(seconds)), undefined);

  test('is the first and the last time, of all and of each revision, and the highest revision', () => {
    expect(
      after([
        [0, 1],
        [1, 4],
        [2, 1],
      ]),
    ).toStrictEqual({
      revision: 4,
      firstAt: time(0),
      lastAt: time(2),
      looks: [
        { revision: 1, firstAt: time(0), lastAt: time(2) },
        { revision: 4, firstAt: time(1), lastAt: time(1) },
      ],
    });
  });

  test('is bounded: the revisions seen last', () => {
    const many = after(Array.from({ length: maxLooks + 5 }, (_, index) => [index, index] as const));
    expect(many?.looks.map(({ revision }) => revision)).toEqual(
      Array.from({ length: maxLooks }, (_, index) => maxLooks + 4 - index),
    );
    expect([many?.revision, many?.firstAt]).toEqual([maxLooks + 4, time(0)]);
  });
});

test('each person has a stream for each website; the looks of before are in one for all people', () => {
  expect(receiptStream.name({ websiteId: 'w1', readerId: 'c1' })).toBe('receipts-w1-c1');
  expect(earlierReceiptStream.name({ websiteId: 'w1' })).toBe('receipts-w1');
});
