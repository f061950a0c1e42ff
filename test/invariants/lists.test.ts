import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Route } from '../../src/http/route.js';
import { pathTo, startEverybody, type Everybody, type Person } from '../support/everybody.js';
import type { ApiAnswer } from '../support/http.js';
import { pdf, png, upload } from '../support/upload.js';

/** Every list takes `count`, and `ids` where what it lists can be read by itself (api.md, section 3). */

/** Asked of providers that do not say how many there are. */
const uncounted = ['listCommits', 'listDeployments'];

/** What they list has no id of its own, or cannot be read by it. */
const withoutIds = [
  'getDeliveryHistory',
  'listCommits',
  'listContentVersions',
  'listDeliveryChanges',
  'listDeliveryReaders',
  'listDeployments',
  'listMarketingVersions',
  'listProducts',
  'listProvisioningReceipts',
];

/** Not by `id`. */
const idFields: Readonly<Record<string, string>> = { listWebsiteClients: 'clientId', listDomains: 'domain' };

/** Lists that have something only where workers run, or with a commerce platform. */
const mayBeEmpty = ['listProducts', 'listProvisioningReceipts'];

type Item = Readonly<Record<string, unknown>>;

let everybody: Everybody;
let lists: readonly Route[];

const call = (method: string, path: string, body?: unknown, as: Person = 'admin'): Promise<ApiAnswer> =>
  everybody.api.call(method, path, { token: everybody.credentials[as].token, ...(body !== undefined && { body }) });

const make = async (method: string, path: string, body: unknown, as: Person = 'admin'): Promise<Item> => {
  const answer = await call(method, path, body, as);
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${String(answer.status)}: ${answer.text}`);
  return answer.body as Item;
};

const tokenOf = (person: Person): string => everybody.credentials[person].token;

/** Two of everything, in the website of everybody and in another one. */
const fill = async (website: string, indexes: readonly number[]): Promise<void> => {
  const token = tokenOf('admin');
  for (const index of indexes) {
    const name = `${website.slice(-5)}-${String(index)}`;
    await make('POST', `${website}/clients`, { email: `linked-${name}@example.com`, role: 'viewer' });
    const email = `known-${name}@example.com`;
    await make('POST', '/clients', { email });
    await make('POST', `${website}/clients`, { email, role: 'viewer' });
    await make('POST', `${website}/transfers`, { email: `buyer-${name}@example.com` });
    await make('POST', `${website}/domains`, { domain: `www.${name}.example` });
    await make('POST', `${website}/bookings`, {
      title: name,
      start: `2190-01-0${String(9 - index)}T09:00:00Z`,
      end: '2190-01-09T09:00:00Z',
    });
    await make('POST', `${website}/billing/invoices`, { total: index, currency: 'eur', description: name });
    await make('PUT', `${website}/delivery`, {
      estimatedCompletionAt: `2190-01-0${String(index)}T09:00:00Z`,
      showPreviewUrl: false,
    });
    expect((await upload(everybody.api, `${website}/documents`, { token, content: pdf })).status).toBe(201);
    expect((await upload(everybody.api, `${website}/media`, { token, content: png, fields: { alt: 'A dot' } })).status).toBe(201);
    const { hash } = (await call('GET', `${website}/content/site`)).body as { hash?: string };
    await make('PUT', `${website}/content/site`, { baseHash: hash ?? null, body: { tagline: name } });
    const { hash: last } = (await call('GET', `${website}/marketing/site`)).body as { hash?: string };
    await make('PUT', `${website}/marketing/site`, { baseHash: last ?? null, body: { title: name } });
    await make('PUT', `${website}/marketing/${name}`, { baseHash: null, body: { title: name } });
    await make('PUT', `${website}/content/${name}`, { baseHash: null, body: { text: name } });
  }
};

const attach = async (website: string): Promise<void> => {
  await make('POST', `${website}/services`, {
    kind: 'commerce',
    shopDomain: 'a.myshopify.com',
    secrets: { adminToken: 'example-token' },
  });
  await make('POST', `${website}/services`, { kind: 'analytics', siteId: 'a.example' });
};

let elsewhere: string;

beforeAll(async () => {
  everybody = await startEverybody();
  lists = everybody.routes.filter(({ paging }) => paging !== undefined);
  const { clientIds, websiteId, outbox, api } = everybody;
  elsewhere = `/websites/${(await make('POST', '/websites', { name: 'Two', slug: 'two', clientId: clientIds.owner, tier: 'scale' })).id as string}`;
  await make('PUT', `${elsewhere}/delivery`, {});
  for (const website of [`/websites/${websiteId}`, elsewhere]) {
    await fill(website, [1, 2]);
    await attach(website);
    for (const person of ['admin', 'owner'] as const) await make('POST', `${website}/delivery/seen`, { revision: 0 }, person);
  }
  await make('POST', `/websites/${websiteId}/delivery/seen`, { revision: 0 }, 'viewer');
  for (const to of ['ada@example.com', 'ben@example.com']) {
    await outbox.send({ id: api.engine.ids.commandId(), to, subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' });
  }
});

const pathOf = ({ path, operationId }: Route, of = everybody): string => {
  const query = operationId === 'listDeliveryChanges' ? '?since=0' : '';
  return `${pathTo(path, of)}${query}`;
};
const withQuery = (path: string, query: string): string => `${path}${path.includes('?') ? '&' : '?'}${query}`;
/** Websites of one's own are a client's. */
const callerOf = ({ operationId }: Route): Person => (operationId === 'listMyWebsites' ? 'owner' : 'admin');

const itemsIn = ({ body }: ApiAnswer): readonly Item[] =>
  Array.isArray(body) ? (body as readonly Item[]) : (body as { readonly links: readonly Item[] }).links;

const nextIn = ({ headers }: ApiAnswer): string | undefined =>
  /<[^>]*\/v1(\/[^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];

/** All items from a page on, and what each page says of their number. */
const readOn = async (
  list: Route,
  page: string | undefined,
): Promise<{ readonly items: readonly Item[]; readonly totals: readonly string[] }> => {
  const items: Item[] = [];
  const totals: string[] = [];
  for (let next = page; next !== undefined;) {
    const answer: ApiAnswer = await call('GET', next, undefined, callerOf(list));
    expect([next, answer.status, answer.text]).toEqual([next, 200, expect.anything()]);
    items.push(...itemsIn(answer));
    totals.push(answer.headers.get('total-count') ?? 'none');
    next = nextIn(answer);
  }
  return { items, totals };
};

/** All items, read a few at a time. */
const read = (list: Route, path: string) =>
  readOn(list, withQuery(path, uncounted.includes(list.operationId) ? 'limit=7' : 'limit=7&count=true'));

const named = async (list: Route, path: string, ids: readonly string[]): Promise<ApiAnswer> =>
  call('GET', withQuery(path, `ids=${ids.join()}&count=true`), undefined, callerOf(list));

const idOf = ({ operationId }: Route, item: Item): string => String(item[idFields[operationId] ?? 'id']);

test('lists are counted and read by ids, but those that are known', () => {
  const lacking = (parameter: 'count' | 'ids') =>
    lists.filter(({ paging }) => paging === true || paging?.[parameter] !== true).map(({ operationId }) => operationId);
  expect(lists.length).toBeGreaterThan(20);
  expect(lacking('count').toSorted()).toEqual(uncounted);
  expect(lacking('ids').toSorted()).toEqual(withoutIds);
});

describe('count', () => {
  test('says on each page how many there are on all of them', async () => {
    for (const list of lists.filter(({ operationId }) => !uncounted.includes(operationId))) {
      const { items, totals } = await read(list, pathOf(list));
      expect([list.operationId, ...new Set(totals)]).toEqual([list.operationId, String(items.length)]);
      if (!mayBeEmpty.includes(list.operationId)) expect([list.operationId, items.length > 1]).toEqual([list.operationId, true]);
    }
  });

  test('that is not known is refused by its name', async () => {
    for (const list of lists.filter(({ operationId }) => uncounted.includes(operationId))) {
      const answer = await call('GET', withQuery(pathOf(list), 'count=true'));
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('count')]);
    }
  });
});

describe('ids', () => {
  test('read exactly these, in their order, each once, and are counted', async () => {
    for (const list of lists.filter(({ operationId }) => !withoutIds.includes(operationId))) {
      const path = pathOf(list);
      const { items } = await read(list, path);
      const ids = items.slice(0, 5).map((item) => idOf(list, item));
      const asked = [...ids, 'none'].toReversed();
      const answer = await named(list, path, [...asked, ...ids]);
      expect([list.operationId, answer.status]).toEqual([list.operationId, 200]);
      expect([list.operationId, ...itemsIn(answer)]).toEqual([list.operationId, ...items.slice(0, 5).toReversed()]);
      expect([list.operationId, answer.headers.get('total-count')]).toEqual([list.operationId, String(ids.length)]);
      expect(answer.headers.get('link')).toBeNull();
    }
  });

  test('stand alone', async () => {
    for (const list of lists.filter(({ operationId }) => !withoutIds.includes(operationId))) {
      const answer = await call('GET', withQuery(pathOf(list), 'ids=one&cursor=bm9uZQ'), undefined, callerOf(list));
      expect([list.operationId, answer.status, (answer.body as { error: string }).error]).toEqual([
        list.operationId,
        400,
        'Invalid query — cursor: cannot be used together with ids',
      ]);
    }
  });

  test('of another website find nothing', async () => {
    const other = { ...everybody, websiteId: elsewhere.replace('/websites/', '') };
    for (const list of lists.filter(
      ({ path, operationId }) => path.startsWith('/websites/:id/') && !withoutIds.includes(operationId),
    )) {
      const { items } = await read(list, pathOf(list, other));
      const own = new Set((await read(list, pathOf(list))).items.map((item) => idOf(list, item)));
      const foreign = items.map((item) => idOf(list, item)).filter((id) => !own.has(id));
      // Documents of content have the names that each website gives them.
      expect([list.operationId, foreign.length > 0]).toEqual([list.operationId, true]);
      const answer = await named(list, pathOf(list), foreign);
      expect([list.operationId, answer.status, itemsIn(answer)]).toEqual([list.operationId, 200, []]);
      expect(answer.headers.get('total-count')).toBe('0');
    }
  });

  test('of another person find nothing', async () => {
    const key = async (as: Person, role?: string): Promise<string> =>
      (await make('POST', '/api-keys', { name: 'one', ...(role !== undefined && { role }) }, as)).id as string;
    const [owners, admins, lower] = [await key('owner'), await key('admin'), await key('admin', 'client')];
    const keys = async (as: Person, query: string): Promise<unknown> =>
      ((await call('GET', `/api-keys?ids=${owners},${admins},${lower}${query}`, undefined, as)).body as readonly Item[]).map(
        ({ id }) => id,
      );
    expect(await keys('owner', '')).toEqual([owners]);
    expect(await keys('stranger', '')).toEqual([]);
    expect(await keys('admin', '')).toEqual([admins, lower]);
    expect(await keys('admin', '&subject=owner')).toEqual([owners]);
    expect((await call('GET', `/api-keys?ids=${admins}&subject=admin`, undefined, 'owner')).status).toBe(403);

    const websites = [everybody.websiteId, elsewhere.replace('/websites/', '')];
    const own = async (as: Person): Promise<unknown> =>
      ((await call('GET', `/me/websites?ids=${websites.join()}`, undefined, as)).body as readonly Item[]).map(({ id }) => id);
    expect(await own('owner')).toEqual(websites);
    expect(await own('viewer')).toEqual([everybody.websiteId]);
    expect(await own('stranger')).toEqual([]);
    expect(await own('admin')).toEqual([]);
  });

  test('of what is archived are not those of one’s own, and not counted', async () => {
    const { clientIds } = everybody;
    const { id } = await make('POST', '/websites', { name: 'Old', slug: 'old', clientId: clientIds.owner });
    const of = async (query: string): Promise<ApiAnswer> => call('GET', `/me/websites?${query}`, undefined, 'owner');
    const before = Number((await of('count=true')).headers.get('total-count'));
    await make('POST', `/websites/${String(id)}/archive`, {});
    expect(Number((await of('count=true')).headers.get('total-count'))).toBe(before - 1);
    expect((await of(`ids=${String(id)}`)).body).toEqual([]);
  });
});

describe('a page goes on where the one before ended', () => {
  const keyOf = (list: Route, item: Item): string =>
    JSON.stringify(item[idFields[list.operationId] ?? 'id'] ?? item.hash ?? item.revision ?? item);

  /** Removes what a list has first, where there is a route for it. */
  const removeFirst = async (list: Route, path: string, item: Item | undefined): Promise<boolean> => {
    const routes = everybody.routes.filter(({ method, path: own }) => method === 'delete' && own.startsWith(`${list.path}/:`));
    if (item === undefined || !routes.some((route) => !route.path.slice(list.path.length + 1).includes('/'))) return false;
    return (await call('DELETE', `${path}/${idOf(list, item)}`)).status === 204;
  };

  test('whatever was removed and added since', async () => {
    // Not one that is needed here.
    await make('POST', '/api-keys', { name: 'last' });
    const begun = [];
    for (const list of lists) {
      const path = pathOf(list);
      const { items } = await read(list, path);
      const first = await call('GET', withQuery(path, 'limit=1'), undefined, callerOf(list));
      begun.push({ list, path, before: items.map((item) => keyOf(list, item)), listed: itemsIn(first)[0], next: nextIn(first) });
    }
    const removed: string[] = [];
    for (const { list, path, listed } of begun) if (await removeFirst(list, path, listed)) removed.push(list.operationId);
    expect(removed.toSorted()).toEqual([
      'listAPIKeys',
      'listBookings',
      'listClients',
      'listDocuments',
      'listDomains',
      'listMedia',
      'listServices',
      'listTransfers',
      'listWebsiteClients',
    ]);
    await fill(`/websites/${everybody.websiteId}`, [3, 4]);
    for (const { list, path, before, next } of begun) {
      const rest = (await readOn(list, next)).items.map((item) => keyOf(list, item));
      const left = new Set((await read(list, path)).items.map((item) => keyOf(list, item)));
      expect([list.operationId, ...rest.filter((key) => before.includes(key))]).toEqual([
        list.operationId,
        ...before.slice(1).filter((key) => left.has(key)),
      ]);
    }
  });
});
