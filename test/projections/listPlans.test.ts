import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { DatabaseSync } from '@photostructure/sqlite';
import { projections } from '../../src/projections/catalogue.js';
import { startCounting, startFinding, startListingIds, walksOf, type Steps } from '../../src/projections/store/embedded/find.js';
import type { Statement } from '../../src/projections/store/embedded/database.js';
import { createIndexes } from '../../src/projections/store/mongodb/modelDocuments.js';
import type { ReadModelQuery } from '../../src/projections/store/readModelStore.js';
import { startApi } from '../support/http.js';

const websiteFilters = [
  'status=active',
  'tier=starter',
  'feature=content',
  'provisioning=queued',
  'attention=failed',
  'attention=late',
  'attention=waiting',
  'archived=true',
  'slug=first',
  'q=corner',
  'q=co',
  'q=c',
  'status=active&tier=starter&feature=content&q=corner&attention=late',
];
const both = (field: string): readonly string[] => [`sort=${field}`, `sort=-${field}`];
const websiteSorts = ['name', 'slug', 'status', 'createdAt', 'estimatedCompletionAt'].flatMap(both);

const pathOf = (path: string, ...parameters: readonly string[]): string =>
  `${path}?${['count=true', ...parameters].filter((one) => one !== '').join('&')}`;

/** Every list that read models answer, with each filter and each sort. */
const listsOf = (websiteId: string, clientId: string): readonly string[] => [
  ...['', ...websiteFilters, `clientId=${clientId}`].flatMap((filter) =>
    ['', ...websiteSorts].map((sort) => pathOf('/websites', filter, sort)),
  ),
  ...['', 'q=anna', 'q=an', 'q=a', 'email=anna@example.com'].flatMap((filter) =>
    ['', ...['email', 'name', 'createdAt'].flatMap(both)].map((sort) => pathOf('/clients', filter, sort)),
  ),
  ...['', `websiteId=${websiteId}`, 'actor=somebody', 'actor=anna@example.com', 'from=2020-01-01', 'to=2030-01-01'].flatMap(
    (filter) => ['', ...both('at')].map((sort) => pathOf('/audit', filter, sort)),
  ),
  `/audit?websiteId=${websiteId}&actor=anna@example.com&from=2020-01-01&to=2030-01-01`,
  ...['corner', 'co', 'c'].map((q) => `/search?q=${q}`),
  '/me',
  '/me/websites',
  '/me?as=anna@example.com',
  '/me/websites?as=anna@example.com',
  '/api-keys',
  '/invoices',
  `/clients/${clientId}/export`,
  ...['clients', 'domains', 'transfers', 'delivery/readers', 'content', 'marketing', 'seo', 'bookings', 'services'].map(
    (list) => `/websites/${websiteId}/${list}`,
  ),
  ...['', ...['name', 'size', 'createdAt'].flatMap(both)].map((sort) => pathOf(`/websites/${websiteId}/documents`, sort)),
  `/websites/${websiteId}/media?count=true`,
];

test('no list reads a whole table or field of the embedded read models', async () => {
  const api = await startApi();
  const { readModels } = api.engine;
  const asked = (['find', 'findIds', 'count'] as const).map((method) => jest.spyOn(readModels, method));
  const token = await api.mintToken();
  const made = async (path: string, body: unknown): Promise<string> =>
    ((await api.call('POST', path, { token, body })).body as { id: string }).id;
  const clientId = await made('/clients', { email: 'anna@example.com', name: 'Anna' });
  const websiteId = await made('/websites', { slug: 'first', name: 'Corner Bakery', tier: 'scale', clientId });
  for (const path of listsOf(websiteId, clientId)) {
    const { status, text } = await api.call('GET', path, { token });
    expect({ path, text: status === 200 ? '' : text }).toStrictEqual({ path, text: '' });
  }

  const file = new DatabaseSync(join(api.folder, 'read-models.db'), { readOnly: true });
  const statements = new Set<string>();
  const database = {
    statement: (sql: string) => {
      statements.add(sql);
      const statement = file.prepare(sql);
      statement.setReadBigInts(true);
      return statement as unknown as Statement;
    },
  };
  const toEnd = (steps: Steps<unknown>): void => {
    while (steps() === null);
  };
  try {
    const keys = new Map(
      (file.prepare('SELECT key, name FROM model').all() as { key: number; name: string }[]).map(({ key, name }) => [
        name,
        BigInt(key),
      ]),
    );
    const [found, listed, counted] = asked;
    for (const [model, query] of found?.mock.calls ?? []) {
      const key = keys.get(model.name) ?? 0n;
      toEnd(startFinding(database, key, model, query as ReadModelQuery));
      // What is there is little: walks that large installations need are planned as well.
      for (const walk of walksOf(database, key, model, query as ReadModelQuery)) walk(null, 10, 10);
    }
    for (const [model, query] of listed?.mock.calls ?? [])
      toEnd(startListingIds(database, keys.get(model.name) ?? 0n, model, query));
    for (const [model, query] of counted?.mock.calls ?? [])
      toEnd(startCounting(database, keys.get(model.name) ?? 0n, model, query));

    expect(statements.size).toBeGreaterThan(20);
    for (const sql of statements) {
      const plan = (file.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]).map(({ detail }) => detail);
      const whole = plan.filter(
        (detail) =>
          /^SCAN (?:entry|document|other)\b(?! VIRTUAL)/.test(detail) ||
          // A search by the model alone, or by one of its fields, reads all of it.
          (/^SEARCH (?:entry|other)\b/.test(detail) && !/field=\? AND \(?value/.test(detail)) ||
          (/^SEARCH document\b/.test(detail) && !/ id[=<>]/.test(detail)),
      );
      expect({ sql, whole }).toStrictEqual({ sql, whole: [] });
    }
  } finally {
    file.close();
  }
});

test('MongoDB has an index for what each list is found and sorted by', async () => {
  for (const projection of projections) {
    const created: (readonly { readonly key: object }[])[] = [];
    const documents = {
      createIndexes: (indexes: readonly { readonly key: object }[]) => {
        created.push(indexes);
        return Promise.resolve([]);
      },
    };
    await createIndexes(documents as never, { name: projection.name, version: '1', indexes: projection.indexes });
    const keys = created.flat().map(({ key }) => Object.keys(key).join());
    const sorted = projection.indexes.filter(({ sorts }) => sorts === true).map(({ field }) => `sorted_${field}`);
    expect(keys).toEqual(expect.arrayContaining(['entries,_id', ...sorted.flatMap((field) => [field, `entries,${field}`])]));
  }
});
