import { describe, expect, test } from '@jest/globals';
import { hasExpired, isTime, utcTime } from '../../src/platform/times.js';

describe('a time', () => {
  test.each([
    ['2026-03-01T12:00:00.000Z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01t12:00:00z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T00:30:00+05:30', '2026-02-28T19:00:00.000Z'],
    ['2026-03-01T00:30:00-00:00', '2026-03-01T00:30:00.000Z'],
    ['2026-12-31T23:59:59.999999999-08:00', '2027-01-01T07:59:59.999Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is kept as %s', (text, kept) => {
    expect(isTime(text)).toBe(true);
    expect(utcTime(text)).toBe(kept);
  });

  test.each([
    ['a day that does not exist', '2026-02-30T00:00:00Z'],
    ['the 29th of February of another year', '2026-02-29T00:00:00Z'],
    ['a thirteenth month', '2026-13-01T00:00:00Z'],
    ['day zero', '2026-01-00T00:00:00Z'],
    ['hour 24', '2026-01-01T24:00:00Z'],
    ['minute 60', '2026-01-01T00:60:00Z'],
    ['a leap second', '2016-12-31T23:59:60Z'],
    ['no offset', '2026-01-01T00:00:00'],
    ['an offset without minutes', '2026-01-01T00:00:00+05'],
    ['an offset of a day and more', '2026-01-01T00:00:00+24:00'],
    ['no seconds', '2026-01-01T00:00Z'],
    ['no time', '2026-01-01'],
    ['a space instead of the T', '2026-01-01 00:00:00Z'],
    ['more after it', '2026-01-01T00:00:00Z\n'],
    ['a year before 0000 in UTC', '0000-01-01T00:00:00+00:01'],
    ['a year after 9999 in UTC', '9999-12-31T23:59:59-00:01'],
    ['a year of five digits', '+010000-01-01T00:00:00Z'],
    ['words', 'tomorrow'],
    ['nothing', ''],
  ])('is not valid: %s', (_, text) => {
    expect(isTime(text)).toBe(false);
  });
});

test.each([
  ['2026-03-01T12:00:00.001Z', false],
  ['2026-03-01T12:00:00.000Z', true],
  ['2026-03-01T11:59:59.999Z', true],
  [undefined, false],
])('what holds until %j has expired at noon: %j', (expiresAt, expired) => {
  expect(hasExpired(expiresAt, '2026-03-01T12:00:00.000Z')).toBe(expired);
});
