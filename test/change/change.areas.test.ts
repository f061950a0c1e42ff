import { expect, test } from '@jest/globals';
import { streams } from '../../src/events/catalogue.js';
import { changeTypes } from '../../src/http/routes/change/change.areas.js';

/** Streams that hold the bookkeeping of processes, or what no route shows. */
const untold = [
  'doorstep',
  'slug',
  'client-email',
  'client-subject',
  'customer',
  'invitation-mail',
  'notice-mail',
  'deployment-lease',
  'deletion',
  'seo-run',
  'webhook',
  'webhook-content',
  'reaction',
  'subject-keys',
  'device-grant',
  'viewing',
  'preview',
];

test.each(streams.map(({ category, events }) => ({ category, events })))(
  'changes of $category streams are told, or kept back on purpose (change.areas.ts, or `untold` here)',
  ({ category, events }) => {
    expect(Object.keys(events).some((type) => changeTypes.has(type))).toBe(!untold.includes(category));
  },
);

test('leases, attempts and mails are told to nobody', () => {
  expect([...changeTypes].filter((type) => /Lease|Attempt|Mail/.test(type))).toStrictEqual([]);
});
