import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { base32Text, createIds, entityId, idAt, eventId, textId } from '../../src/platform/ids.js';
import { systemRandom, type Random } from '../../src/platform/random.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-([78])[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const versionOf = (id: string): string | undefined => uuid.exec(id)?.[1];

const zeros: Random = { bytes: (length) => new Uint8Array(length), fraction: () => 0 };
const ones: Random = { bytes: (length) => new Uint8Array(length).fill(0xff), fraction: () => 0.999 };

const commandAt = (epochMs: number, random: Random = systemRandom): string =>
  createIds({ now: () => epochMs, schedule: () => () => undefined }, random).commandId();

const command = commandAt(Date.UTC(2026, 0, 1));

/** Up to the year 10889, where 48 bits of milliseconds end. */
const times = fc.integer({ min: 0, max: 2 ** 48 - 1 });

describe('command ids', () => {
  test.each([
    ['nothing but zeros', zeros],
    ['nothing but ones', ones],
    ['chance', systemRandom],
  ])('are UUIDs of version 7, whatever the random bytes: %s', (_, random) => {
    expect(versionOf(commandAt(Date.UTC(2026, 0, 1), random))).toBe('7');
  });

  test('begin with the time: RFC 9562, example of appendix A.6', () => {
    const bytes = Uint8Array.from([0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f]);
    expect(commandAt(0x017f22e279b0, { bytes: () => bytes, fraction: () => 0 })).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
  });

  test('of one millisecond are all different', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => commandAt(0))).size).toBe(1_000);
  });
});

describe('entity ids', () => {
  test('are 26 characters of lower-case base32', () => {
    fc.assert(
      fc.property(times, (at) => {
        expect(entityId(commandAt(at), 'website')).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/);
      }),
    );
  });

  test('sort by the time of their commands', () => {
    fc.assert(
      fc.property(times, times, (one, other) => {
        fc.pre(one < other);
        expect(entityId(commandAt(one), 'website') < entityId(commandAt(other), 'client')).toBe(true);
      }),
    );
  });

  test('are the same for the same command and purpose, and no other', () => {
    expect(entityId(command, 'website')).toBe(entityId(command, 'website'));
    const sameTime = commandAt(Date.UTC(2026, 0, 1));
    const made = [entityId(command, 'website'), entityId(command, 'client'), entityId(sameTime, 'website')];
    expect(new Set(made).size).toBe(made.length);
  });

  test('never change: a retry by a later build gives the same entity', () => {
    expect(entityId('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 'website')).toBe('01fwhe4ydg96qrexch96hdb03x');
  });
});

describe('event ids', () => {
  test('are UUIDs of version 8 that sort with their commands', () => {
    fc.assert(
      fc.property(times, times, (one, other) => {
        fc.pre(one < other);
        const [first, second] = [eventId(commandAt(one), 'a', 9), eventId(commandAt(other), 'b', 0)];
        expect([versionOf(first), versionOf(second)]).toEqual(['8', '8']);
        expect(first < second).toBe(true);
      }),
    );
  });

  test('are the same for the same command, stream and index, and no other', () => {
    expect(eventId(command, 'website-1', 0)).toBe(eventId(command, 'website-1', 0));
    const made = [
      eventId(command, 'website-1', 0),
      eventId(command, 'website-1', 1),
      eventId(command, 'website-11', 0),
      eventId(command, 'slug-1', 0),
      eventId(commandAt(Date.UTC(2026, 0, 1)), 'website-1', 0),
    ];
    expect(new Set(made).size).toBe(made.length);
  });

  test('never change: a retry by a later build appends nothing twice', () => {
    expect(eventId('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 'website-1', 0)).toBe('017f22e2-79b0-83d9-bfbb-3899b9072ed8');
  });
});

test('base32 text holds the last bits, from the highest to the lowest', () => {
  expect(base32Text(Uint8Array.from([0x01]), 2)).toBe('01');
  expect(base32Text(Uint8Array.from([0xff, 0xff]), 3)).toBe('zzz');
  expect(base32Text(Uint8Array.from([0x04, 0x00]), 4)).toBe('0100');
});

test('the id of a text never changes, and is unique', () => {
  expect(textId('hook-1')).toBe('n3fdbb9xt0e2bcx9k124xb16nc');
  expect(textId('hook-2')).not.toBe(textId('hook-1'));
});

test('an id at another time keeps what makes it unique, and sorts by that time', () => {
  const id = entityId('019a0000-0000-7000-8000-000000000000', 'booking');
  const moments = [-1, 0, 1, Date.UTC(2026, 0, 1), Date.UTC(9999, 11, 31), Number.MAX_SAFE_INTEGER];
  const ids = moments.map((time) => idAt(time, id));
  expect(new Set(ids.map((at) => at.slice(10)))).toEqual(new Set([id.slice(10)]));
  expect([...ids].sort()).toEqual(ids);
  expect(idAt(1, '') < idAt(1, id)).toBe(true);
  expect(idAt(1, '') > idAt(0, id)).toBe(true);
});
