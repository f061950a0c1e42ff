import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createWebsite } from '../../src/commands/website/website.handlers.js';
import { someAdmin } from '../support/given.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';

let api: RunningApi;
let token: string;

interface Listed {
  readonly id: string;
  readonly name?: string;
  readonly slug: string;
}

beforeAll(async () => {
  api = await startApi();
  token = await api.mintToken();
});

const get = (path: string): Promise<ApiAnswer> => api.call('GET', path, { token });

const made = async (path: string, body: unknown): Promise<string> => {
  const answer = await api.call('POST', path, { token, body });
  expect([200, 201]).toContain(answer.status);
  return (answer.body as { id: string }).id;
};

/** All pages, each through the `Link` of the one before. */
const walk = async <Item = Listed>(path: string, caller = token): Promise<readonly Item[]> => {
  const items: Item[] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const { status, headers, body, text } = await api.call('GET', next, { token: caller });
    if (status !== 200) throw new Error(text);
    items.push(...(body as Item[]));
    next = /<[^>]*\/v1([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  return items;
};

const slugs = async (query: string): Promise<readonly string[]> => (await walk(`/websites?${query}`)).map(({ slug }) => slug);

describe('GET /websites', () => {
  let [anna, berta]: string[] = [];
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    anna = await made('/clients', { email: 'anna@lists.example' });
    berta = await made('/clients', { email: 'berta@lists.example' });
    const websites = [
      { slug: 'zoo', name: 'zoo', clientId: anna },
      { slug: 'muller', name: 'Müller Straße', tier: 'growth' },
      { slug: 'aral', name: 'Äral', tier: 'scale', clientId: berta },
      { slug: 'aral-b', name: 'aral', tier: 'starter', features: ['content'] },
      { slug: 'bakery', name: 'Bakery', tier: 'growth', features: ['seo'] },
    ];
    for (const website of websites) ids[website.slug] = await made('/websites', website);
    await made('/websites', { slug: 'old-shop', name: 'Old shop', clientId: anna }).then((id) =>
      api.call('POST', `/websites/${id}/archive`, { token }),
    );
    await api.call('POST', `/websites/${String(ids.bakery)}/clients`, {
      token,
      body: { email: 'anna@lists.example', role: 'viewer' },
    });
  });

  test.each([
    ['', ['bakery', 'aral-b', 'aral', 'muller', 'zoo']],
    ['sort=name', ['aral', 'aral-b', 'bakery', 'muller', 'zoo']],
    ['sort=-name', ['zoo', 'muller', 'bakery', 'aral-b', 'aral']],
    ['sort=slug', ['aral', 'aral-b', 'bakery', 'muller', 'zoo']],
    ['sort=createdAt', ['zoo', 'muller', 'aral', 'aral-b', 'bakery']],
    ['sort=-createdAt', ['bakery', 'aral-b', 'aral', 'muller', 'zoo']],
    ['sort=-status&tier=growth', ['bakery', 'muller']],
    ['tier=growth', ['bakery', 'muller']],
    ['slug=aral', ['aral']],
    ['slug=old-shop', []],
    ['slug=old-shop&archived=true', ['old-shop']],
    ['feature=seo', ['bakery', 'aral', 'muller']],
    ['feature=seo&tier=scale', ['aral']],
    ['status=active', []],
    ['q=MULLER', ['muller']],
    ['q=strasse', ['muller']],
    ['q=äràl&sort=name', ['aral', 'aral-b']],
    ['archived=true', ['old-shop']],
    ['provisioning=queued&tier=starter', ['aral-b', 'zoo']],
    ['provisioning=failed', []],
  ])('?%s, in pages of any size, and counted', async (query, expected) => {
    for (const limit of [1, 2, 200]) expect(await slugs(`${query}&limit=${String(limit)}`)).toEqual(expected);
    expect((await get(`/websites?limit=1&count=true&${query}`)).headers.get('total-count')).toBe(String(expected.length));
  });

  test('?clientId= finds what a client owns or is linked to', async () => {
    expect(await slugs(`clientId=${anna}`)).toEqual(['bakery', 'zoo']);
    expect(await slugs(`clientId=${anna}&limit=1&sort=-name`)).toEqual(['zoo', 'bakery']);
    expect(await slugs(`clientId=${anna}&feature=seo`)).toEqual(['bakery']);
    expect(await slugs(`clientId=${anna}&archived=true`)).toEqual(['old-shop']);
    expect(await slugs(`clientId=${anna}&q=zo`)).toEqual(['zoo']);
    expect(await slugs('clientId=nobody')).toEqual([]);
    await api.call('DELETE', `/websites/${String(ids.bakery)}/clients/${anna}`, { token });
    expect(await slugs(`clientId=${anna}`)).toEqual(['zoo']);
    expect(await slugs(`clientId=${berta}`)).toEqual(['aral']);
  });

  test('without count=true nobody is told how many there are', async () => {
    expect((await get('/websites')).headers.get('total-count')).toBeNull();
  });

  test('?ids= reads these, in this order, archived ones too, and leaves out those that there are not', async () => {
    const [zoo, aral] = [String(ids.zoo), String(ids.aral)];
    const [archived] = await walk('/websites?archived=true');
    const { status, headers, body } = await get(`/websites?ids=${zoo},nobody,${archived?.id ?? ''},${aral},${zoo}&count=true`);
    expect([status, headers.get('total-count'), headers.get('link')]).toEqual([200, '3', null]);
    expect((body as Listed[]).map(({ slug }) => slug)).toEqual(['zoo', 'old-shop', 'aral']);
  });

  test('?ids= that is too long for the schema is not too long for the head of a request', async () => {
    expect(await get(`/websites?ids=${'a'.repeat(10_001)}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_query' },
    });
  });

  test('?ids= takes 200 ids, and refuses more', async () => {
    const many = Array.from({ length: 199 }, (_, index) => `w${String(index)}`);
    expect(await get(`/websites?ids=${[...many, String(ids.zoo)].join(',')}`)).toMatchObject({
      status: 200,
      body: [{ slug: 'zoo' }],
    });
    expect(await get(`/websites?ids=${[...many, 'a', 'b'].join(',')}`)).toMatchObject({
      status: 400,
      body: { error: 'Invalid query — ids: name at most 200 ids', code: 'invalid_query' },
    });
  });

  test.each([
    ['ids=a&status=active', 'status: cannot be used together with ids'],
    ['ids=a&sort=name', 'sort: cannot be used together with ids'],
    ['ids=a,,b', 'ids: use ids with commas between'],
    [
      'sort=colour',
      'sort: must be one of name, -name, slug, -slug, status, -status, createdAt, -createdAt, estimatedCompletionAt, -estimatedCompletionAt; got 6 characters',
    ],
    ['limit=201', 'limit: must be at most 200; got 201'],
    ['count=yes', 'count: must be true or false; got text'],
  ])('?%s is refused by words', async (query, words) => {
    expect(await get(`/websites?${query}`)).toMatchObject({ status: 400, body: { error: `Invalid query — ${words}` } });
  });

  test('a cursor of another order is refused', async () => {
    const { headers } = await get('/websites?sort=name&limit=1');
    const cursor = /cursor=([\w-]+)/.exec(headers.get('link') ?? '')?.[1] ?? '';
    expect(cursor).not.toBe('');
    for (const query of ['sort=-name', 'sort=slug', '']) {
      expect(await get(`/websites?${query}&cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { error: 'Invalid query — cursor: is not a cursor of this list' },
      });
    }
  });
});

describe('GET /clients', () => {
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    for (const [email, name] of [
      ['zoe@people.example', 'Ágnes'],
      ['adam@people.example', 'Zoltán'],
      ['mia@people.example', 'agnes'],
    ] as const) {
      ids[email] = await made('/clients', { email, name });
    }
  });

  const people = async (query: string): Promise<readonly string[]> =>
    (await walk<{ email: string }>(`/clients?q=people.example&${query}`)).map(({ email }) => email.split('@')[0] ?? '');

  test.each([
    ['', ['mia', 'adam', 'zoe']],
    ['sort=createdAt', ['zoe', 'adam', 'mia']],
    ['sort=email', ['adam', 'mia', 'zoe']],
    ['sort=-email', ['zoe', 'mia', 'adam']],
    ['sort=name', ['zoe', 'mia', 'adam']],
    ['sort=-name', ['adam', 'mia', 'zoe']],
  ])('?%s, in pages of any size', async (query, expected) => {
    for (const limit of [1, 2, 200]) expect(await people(`${query}&limit=${String(limit)}`)).toEqual(expected);
  });

  test('are found without regard to diacritics, and counted', async () => {
    const { headers, body } = await get('/clients?q=AGNES&count=true&limit=1');
    expect([headers.get('total-count'), (body as unknown[]).length]).toEqual(['2', 1]);
    const whole = await get('/clients?count=true');
    expect(whole.headers.get('total-count')).toBe(String((whole.body as unknown[]).length));
  });

  test('?ids= reads these, in this order', async () => {
    const wanted = [ids['adam@people.example'], ids['zoe@people.example']];
    const { body } = await get(`/clients?ids=${wanted.join(',')},nobody`);
    expect((body as Listed[]).map(({ id }) => id)).toEqual(wanted);
  });

  test('a cursor tells nobody whose it is, goes on after a change of name, and ends with an erasure', async () => {
    const first = await get('/clients?q=people.example&sort=name&limit=1');
    const cursor = /cursor=([\w-]+)/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    expect(Buffer.from(cursor, 'base64url').toString()).not.toMatch(/agnes|zoe|people/);
    const rest = (): Promise<ApiAnswer> => get(`/clients?q=people.example&sort=name&limit=9&cursor=${cursor}`);
    const path = `/clients/${String(ids['zoe@people.example'])}`;
    await api.call('PATCH', path, { token, body: { name: 'Aaron' } });
    expect((await rest()).body).toMatchObject([{ name: 'agnes' }, { name: 'Zoltán' }]);
    await api.call('DELETE', path, { token });
    expect(await rest()).toMatchObject({ status: 400, body: { error: 'Invalid query — cursor: is not a cursor of this list' } });
  });
});

describe('GET /websites says how delivery and provisioning stand', () => {
  const past = '2020-01-01T12:00:00.000Z';
  const checkpoint = { id: 'texts', label: 'Texts', order: 10, status: 'in_progress' };
  const ids: Record<string, string> = {};
  const deliver = async (slug: string, body: object): Promise<void> => {
    const path = `/websites/${String(ids[slug])}/delivery`;
    expect((await api.call('PUT', path, { token, body: { showPreviewUrl: false, ...body } })).status).toBe(200);
  };
  let clientId: string;

  beforeAll(async () => {
    clientId = await made('/clients', { email: 'sums@lists.example' });
    for (const slug of ['s-none', 's-late', 's-due', 's-waits', 's-done']) {
      ids[slug] = await made('/websites', { slug, name: slug, clientId });
    }
    await deliver('s-late', { estimatedCompletionAt: past, checkpoints: [checkpoint] });
    await deliver('s-due', { estimatedCompletionAt: '2033-01-01T12:00:00.000Z', checkpoints: [{ ...checkpoint, dueAt: past }] });
    const waiting = [{ ...checkpoint, neededFromClient: 'The texts' }];
    await deliver('s-waits', { estimatedCompletionAt: '2031-01-01T12:00:00.000Z', checkpoints: waiting });
    await deliver('s-done', { estimatedCompletionAt: past, checkpoints: [{ ...checkpoint, status: 'done' }] });
  });

  test('in each entry, as of now', async () => {
    const summary = {
      estimatedCompletionAt: '2031-01-01T12:00:00.000Z',
      counts: { pending: 0, in_progress: 1, done: 0 },
      current: { id: 'texts', label: 'Texts' },
      neededFromClient: [{ id: 'texts', label: 'Texts', text: 'The texts' }],
    };
    const provisioning = { status: 'queued', step: 'github_create_repo', attempts: 0 };
    const listed = { slug: 's-waits', deliverySummary: summary, provisioningSummary: provisioning };
    expect(await walk('/websites?attention=waiting')).toMatchObject([listed]);
    expect((await get(`/websites?ids=${String(ids['s-waits'])},${String(ids['s-none'])}`)).body).toMatchObject([
      listed,
      { slug: 's-none' },
    ]);
    const [none] = await walk<object>('/websites?q=s-none');
    expect(none).not.toHaveProperty('deliverySummary');
    const caller = await api.mintToken({ role: 'client', subject: 'sums@lists.example', verifiedEmail: 'sums@lists.example' });
    const [own] = (await walk<object>('/me/websites', caller)).slice(1);
    expect(own).toMatchObject({ slug: 's-waits', deliverySummary: summary });
    expect(own).not.toHaveProperty('provisioningSummary');
  });

  test.each([
    ['attention=late', ['s-due', 's-late']],
    ['attention=late&sort=name', ['s-due', 's-late']],
    ['attention=late&sort=-estimatedCompletionAt', ['s-due', 's-late']],
    ['attention=waiting', ['s-waits']],
    ['attention=failed', []],
    ['sort=estimatedCompletionAt', ['s-late', 's-done', 's-waits', 's-due', 's-none']],
    ['sort=-estimatedCompletionAt', ['s-due', 's-waits', 's-done', 's-late', 's-none']],
    ['q=S-D', ['s-done', 's-due']],
  ])('?%s, in pages of any size, and counted', async (query, expected) => {
    const path = `clientId=${clientId}&${query}`;
    for (const limit of [1, 2, 200]) expect(await slugs(`${path}&limit=${String(limit)}`)).toEqual(expected);
    expect((await get(`/websites?limit=1&count=true&${path}`)).headers.get('total-count')).toBe(String(expected.length));
  });

  test('late from the ETA or the first open deadline on, which the summary says', async () => {
    const [before, soon, later] = [-60_000, 60_000, 120_000].map((ms) => new Date(Date.now() + ms).toISOString()) as [
      string,
      string,
      string,
    ];
    const within = (): Promise<readonly string[]> => slugs(`clientId=${clientId}&attention=late&q=s-waits`);
    const summary = async (): Promise<unknown> => (await walk<object>('/websites?q=s-waits'))[0];
    await deliver('s-waits', { estimatedCompletionAt: later, checkpoints: [{ ...checkpoint, dueAt: soon }] });
    expect(await within()).toEqual([]);
    expect(await summary()).toMatchObject({ deliverySummary: { lateFrom: soon } });
    await deliver('s-waits', { estimatedCompletionAt: before, checkpoints: [checkpoint] });
    expect(await within()).toEqual(['s-waits']);
    expect(await summary()).toMatchObject({ deliverySummary: { lateFrom: before } });
    await deliver('s-waits', { estimatedCompletionAt: before, checkpoints: [{ ...checkpoint, status: 'done' }] });
    expect(await within()).toEqual([]);
    expect(await summary()).not.toMatchObject({ deliverySummary: { lateFrom: expect.anything() } });
  });

  test('a change is in every list that follows', async () => {
    await deliver('s-none', { estimatedCompletionAt: past, checkpoints: [checkpoint] });
    expect(await slugs('attention=late&limit=1')).toContain('s-none');
    await api.call('PUT', `/websites/${String(ids['s-none'])}/delivery/checkpoints/texts`, { token, body: { status: 'done' } });
    expect(await slugs('attention=late')).not.toContain('s-none');
  });
});

describe('the websites of a client', () => {
  test('are in /me up to 200, and all of them in the pages of /me/websites', async () => {
    const email = 'many@me.example';
    const clientId = await made('/clients', { email });
    const caller = await api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
    const me = async (): Promise<{ websites: Listed[]; moreWebsites?: true }> =>
      (await api.call('GET', '/me', { token: caller })).body as { websites: Listed[]; moreWebsites?: true };
    const add = (index: number): Promise<unknown> =>
      createWebsite(
        api.engine,
        { name: 'A site', slug: `many-${String(index)}`, templateId: 'business', tier: 'starter', collaborators: [], clientId },
        { commandId: api.engine.ids.commandId(), actor: someAdmin, requestId: 'test' },
      );
    await Promise.all(Array.from({ length: 200 }, (_, index) => add(index)));
    const whole = await me();
    expect([whole.websites.length, whole.moreWebsites]).toEqual([200, undefined]);

    await add(200);
    const cut = await me();
    expect([cut.websites.length, cut.moreWebsites]).toEqual([200, true]);
    const all = await walk<Listed & { via: string }>('/me/websites?limit=90', caller);
    expect(all.map(({ id }) => id)).toEqual([...new Set(all.map(({ id }) => id))].sort().reverse());
    expect(all).toHaveLength(201);
    expect(all.slice(0, 200)).toEqual(cut.websites);
    expect(all.every(({ via }) => via === 'owner')).toBe(true);

    const linked = await made('/websites', { slug: 'many-linked', name: 'Of another' });
    await api.call('POST', `/websites/${linked}/clients`, { token, body: { email, role: 'viewer' } });
    await api.call('POST', `/websites/${String(all[1]?.id)}/archive`, { token });
    const shown = [linked, ...all.map(({ id }) => id).filter((id) => id !== all[1]?.id)];
    expect((await walk('/me/websites?limit=60', caller)).map(({ id }) => id)).toEqual(shown);
    expect((await walk(`/websites?clientId=${clientId}&limit=60`)).map(({ id }) => id)).toEqual(shown);
    expect((await walk(`/websites?clientId=${clientId}&q=many-7&limit=3`)).map(({ slug }) => slug)).toHaveLength(11);

    const listed = jest.spyOn(api.engine.readModels, 'findIds');
    const cursorless = [`/websites?clientId=${clientId}&limit=5`, '/me/websites?limit=5'] as const;
    expect(await slugs(`clientId=${clientId}&slug=many-3`)).toEqual(['many-3']);
    listed.mockClear();
    await get(cursorless[0]);
    await api.call('GET', cursorless[1], { token: caller });
    const read = await Promise.all(listed.mock.results.map(({ value }) => value as Promise<readonly string[]>));
    listed.mockRestore();
    // Of the 201 that are owned, and the one with a link, for each of both lists.
    expect(read.map(({ length }) => length)).toEqual([50, 1, 50, 1]);
  });

  test('of an admin are none', async () => {
    expect((await get('/me/websites')).body).toEqual([]);
  });
});
