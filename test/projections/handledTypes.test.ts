import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { projections } from '../../src/projections/catalogue.js';

/**
 * The version of each projection, and a digest of the event types that it handles. When the digest
 * changes, raise the version: while processes of both builds run, the older one moves a shared read model past
 * events that only the newer one handles. `readsFrom` names the version before where documents stay as
 * they were.
 */
const known = {
  access: '6 86ac8a372c68fcc3',
  apiKey: '3 e7bb76a3f8f6970e',
  audit: '137 6dcefc39341b0bdd',
  billing: '1 5b0ba63d395c2710',
  booking: '2 b6b7620a1137cd46',
  client: '4 d1f4f186213872e5',
  clientSearch: '2 d1f4f186213872e5',
  clientSubject: '1 9634b376f5dcf64a',
  content: '1 b8816746a330801b',
  contentSizes: '1 b6569a6cb91fe56d',
  delivery: '1 b2dcf4b0d7194902',
  document: '1 ee80874a0956453a',
  domain: '1 6c75ece61951bb70',
  forecast: '1 b2dcf4b0d7194902',
  media: '1 2eb6cb77617bc1e8',
  overview: '5 a7a30ba72986f815',
  parkedWork: '1 da486103a19b3e80',
  provisioning: '2 fe7542596bb9b6af',
  receipt: '1 a172948bf0d103ac',
  seo: '1 d92b2187846203ca',
  service: '1 f2956d830066cedd',
  website: '7 5b0b4963a6769bf2',
};

const digestOf = (types: readonly string[]): string =>
  createHash('sha256').update(types.toSorted().join()).digest('hex').slice(0, 16);

test('a version of a projection belongs to the event types that it handles', () => {
  const found = projections.map(({ name, version, handles }) => [name, `${String(version)} ${digestOf(handles)}`]);
  expect(Object.fromEntries(found)).toEqual(known);
});
