import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createTask } from 'node-cron';
import { cronSchedule } from '../../src/platform/settings/cronSchedule.js';

/** Entries of a field, right and wrong ones. */
const entry = (to: number, ...names: string[]) => {
  const bound = fc.oneof(fc.nat(to + 1).map(String), fc.constantFrom('07', ...names));
  const range = fc.oneof(
    fc.constant('*'),
    bound,
    fc.tuple(bound, bound).map((both) => both.join('-')),
  );
  const step = fc.option(fc.nat(40), { nil: undefined });
  return fc.tuple(range, step).map(([text, by]) => (by === undefined ? text : `${text}/${String(by)}`));
};
const field = (to: number, ...names: string[]) =>
  fc.array(entry(to, ...names), { minLength: 1, maxLength: 2 }).map((entries) => entries.join(','));

test('whatever is taken is a schedule of node-cron', () => {
  const fields = fc.tuple(field(59), field(23), field(31), field(12, 'feb', 'Dec'), field(7, 'sun', 'Fri'));
  fc.assert(
    fc.property(fields, (texts) => {
      const schedule = cronSchedule(texts.join(' '));
      fc.pre(typeof schedule === 'string');
      expect(() => createTask(schedule, () => undefined, { timezone: 'UTC' })).not.toThrow();
    }),
  );
});

test.each(['0 4 29 2 *', '0 4 31 2,3 *', '0 4 31,1 4 *', '*/45 0-23/5 1-31/30 jan-dec/11 0-7'])('%s is one', (text) => {
  expect(cronSchedule(text)).toBe(text);
});
