import { beforeAll, describe, expect, test } from '@jest/globals';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly type: string;
  readonly websiteId?: string;
  readonly actor: { readonly subject: string; readonly name?: string; readonly via: string; readonly tokenId?: string };
  readonly requestId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

let api: RunningApi;
let token: string;
let other: string;
const ids: Record<string, string> = {};

const call = async (method: string, path: string, body?: unknown, by = token): Promise<ApiAnswer> => {
  const answer = await api.call(method, path, { token: by, ...(body !== undefined && { body }) });
  if (answer.status >= 400) throw new Error(`${method} ${path} answered ${String(answer.status)}: ${answer.text}`);
  return answer;
};

const made = async (path: string, body: unknown, by = token): Promise<string> =>
  ((await call('POST', path, body, by)).body as { id: string }).id;

const audit = async (query = ''): Promise<readonly Entry[]> => (await call('GET', `/audit${query}`)).body as readonly Entry[];
const typesOf = (entries: readonly Entry[]): readonly string[] => entries.map(({ type }) => type);

/** All pages, each through the `Link` of the one before. */
const walk = async (query: string): Promise<readonly Entry[]> => {
  const found: Entry[] = [];
  for (let next: string | undefined = `/audit${query}`; next !== undefined;) {
    const { headers, body } = await call('GET', next);
    found.push(...(body as Entry[]));
    next = /<[^>]*\/v1([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  return found;
};

beforeAll(async () => {
  api = await startApi();
  token = await api.mintToken({ subject: 'ops@audit.example' });
  other = await api.mintToken({ subject: 'second-admin' });
  ids.anna = await made('/clients', { email: 'anna@audit.example', name: '=Anna' });
  ids.bakery = await made('/websites', { name: 'Bakery', slug: 'bakery', clientId: ids.anna });
  ids.zoo = await made('/websites', { name: 'Zoo', slug: 'zoo' }, other);
  await call('PUT', `/websites/${ids.bakery}/delivery`, {});
  await call('PUT', `/websites/${ids.bakery}/delivery/checkpoints/kickoff`, { status: 'done' }, other);
  await call('POST', `/websites/${ids.bakery}/clients`, { email: 'newcomer@audit.example', role: 'viewer' });
});

describe('GET /audit', () => {
  test('lists each change, newest first, with who made it and by which way', async () => {
    const entries = await audit();
    expect([...entries].map(({ id }) => id)).toStrictEqual(
      entries
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    expect(entries[0]).toMatchObject({
      type: 'InvitationIssued',
      websiteId: ids.bakery,
      actor: { subject: 'ops@audit.example', name: 'ops@audit.example', role: 'admin', via: 'token' },
      data: { email: 'newcomer@audit.example', role: 'viewer' },
    });
    expect(entries.find(({ type }) => type === 'DeliveryCheckpointStatusSet')).toMatchObject({
      actor: { subject: 'second-admin', via: 'token', tokenId: expect.any(String) },
      data: { checkpointId: 'kickoff', status: 'done', previousStatus: 'pending' },
    });
    expect(typesOf(entries)).toEqual(
      expect.arrayContaining(['ClientRegistered', 'WebsiteCreated', 'APIKeyMinted', 'DeliverySetUp']),
    );
    expect(typesOf(entries)).not.toContain('SlugReserved');
  });

  test('a change is there as soon as it is answered, with its request', async () => {
    const { headers } = await call('PATCH', `/websites/${String(ids.zoo)}`, { name: 'Great Zoo' });
    const [newest] = await audit('?limit=1');
    expect(newest).toMatchObject({ type: 'WebsiteRenamed', requestId: headers.get('x-request-id'), data: { name: 'Great Zoo' } });
  });

  test('of one website', async () => {
    const entries = await audit(`?websiteId=${String(ids.bakery)}`);
    expect(new Set(entries.map(({ websiteId }) => websiteId))).toEqual(new Set([ids.bakery]));
    expect(typesOf(entries)).toEqual(expect.arrayContaining(['WebsiteCreated', 'DeliverySetUp', 'InvitationIssued']));
    expect(await audit('?websiteId=nowhere')).toEqual([]);
  });

  test.each([
    ['an opaque subject', 'second-admin', ['DeliveryCheckpointStatusSet', 'WebsiteCreated']],
    ['an address', 'ops@audit.example', ['InvitationIssued', 'DeliverySetUp']],
    ['an address in other letters', 'OPS@Audit.example', ['InvitationIssued']],
    ['a process', 'test', ['APIKeyMinted']],
  ])('by %s', async (_, actor, types) => {
    const entries = await audit(`?actor=${encodeURIComponent(actor)}&limit=200`);
    expect(typesOf(entries)).toEqual(expect.arrayContaining(types));
    expect(new Set(entries.map(({ actor: { subject } }) => subject))).toEqual(new Set([actor.toLowerCase()]));
  });

  test('by an address that somebody with another subject signs in with', async () => {
    const email = 'vera@audit.example';
    await made('/clients', { email });
    await call('POST', `/websites/${String(ids.bakery)}/clients`, { email, role: 'editor' });
    const own = await api.mintToken({ role: 'client', subject: 'idp|vera', verifiedEmail: email });
    await made('/api-keys', { name: 'mine' }, own);
    expect(await audit(`?actor=${email}`)).toMatchObject([
      { type: 'APIKeyMinted', actor: { subject: 'idp|vera', role: 'client' } },
    ]);
  });

  test('by nobody of whom anything is known', async () => {
    expect(await audit('?actor=nobody@audit.example')).toEqual([]);
    expect(await audit('?actor=nobody')).toEqual([]);
  });

  test('in a period, both ends included', async () => {
    const all = await walk('?sort=at&limit=200');
    const { at } = all[Math.floor(all.length / 2)] as Entry;
    const within = (from: string, to: string): readonly string[] =>
      all.filter((entry) => entry.at >= from && entry.at <= to).map(({ id }) => id);
    const idsOf = async (query: string): Promise<readonly string[]> => (await walk(query)).map(({ id }) => id);
    const end = '9999-12-31T00:00:00.000Z';
    expect(await idsOf(`?sort=at&from=${at}`)).toEqual(within(at, end));
    expect(await idsOf(`?sort=at&to=${at}`)).toEqual(within('', at));
    expect(await idsOf(`?sort=at&from=${at}&to=${at}`)).toEqual(within(at, at));
    const today = at.slice(0, 10);
    expect(await idsOf(`?sort=at&from=${today}&to=${today}`)).toEqual(within(today, `${today}Z`));
    expect(await audit('?from=2099-01-01')).toEqual([]);
    expect(await audit('?to=1999-01-01T00:00:00Z')).toEqual([]);
  });

  test('in pages of any size, in both orders, counted', async () => {
    const whole = await walk('?limit=200');
    const ownIds = whole.map(({ id }) => id);
    expect((await walk('?limit=3')).map(({ id }) => id)).toEqual(ownIds);
    expect((await walk('?limit=7&sort=-at')).map(({ id }) => id)).toEqual(ownIds);
    expect((await walk('?limit=7&sort=at')).map(({ id }) => id)).toEqual([...ownIds].reverse());
    const countOf = async (query: string): Promise<string | null> =>
      (await call('GET', `/audit?limit=1&count=true${query}`)).headers.get('total-count');
    expect(await countOf('')).toBe(String(whole.length));
    expect(await countOf(`&websiteId=${String(ids.bakery)}`)).toBe(
      String(whole.filter(({ websiteId }) => websiteId === ids.bakery).length),
    );
    expect(await countOf(`&websiteId=${String(ids.bakery)}&from=2099-01-01`)).toBe('0');
  });

  test.each([
    ['from=yesterday', 'Invalid query — from: must be a day as in 2030-01-31, or a time'],
    ['to=2030-02-30', 'Invalid query — to: must be a day as in 2030-01-31, or a time'],
    ['cursor=nonsense', 'Invalid query — cursor: is not a cursor of this list'],
    ['sort=type', expect.stringContaining('Invalid query — sort: ')],
    ['type=WebsiteCreated', expect.stringContaining('Invalid query — type: ')],
  ])('refuses ?%s', async (query, error) => {
    expect(await api.call('GET', `/audit?${query}`, { token })).toMatchObject({ status: 400, body: { error } });
  });

  test('lists looks as somebody else', async () => {
    await call('GET', `/websites/${String(ids.bakery)}?as=anna@audit.example`);
    expect((await audit('?limit=1'))[0]).toMatchObject({
      type: 'PersonViewed',
      websiteId: ids.bakery,
      actor: { subject: 'ops@audit.example' },
      data: { email: 'anna@audit.example', path: `/websites/${String(ids.bakery)}` },
    });
  });

  test('says nothing of a token by which it could be found', async () => {
    const [minted] = (await walk('?limit=200')).filter(({ type }) => type === 'APIKeyMinted');
    expect(Object.keys(minted?.data ?? {})).toEqual(expect.arrayContaining(['id', 'name', 'prefix', 'subject']));
    expect(minted?.data).not.toHaveProperty('hash');
  });

  test('an erased person is nowhere in it, and not found by their address', async () => {
    const email = 'gone@audit.example';
    const own = await api.mintToken({ subject: email });
    const client = await made('/clients', { email, name: 'Gustav Gone' });
    await call('PATCH', `/websites/${String(ids.zoo)}`, { name: 'Small Zoo' }, own);
    expect(await audit(`?actor=${email}`)).toMatchObject([{ type: 'WebsiteRenamed' }]);
    await call('DELETE', `/clients/${client}`);
    const all = JSON.stringify(await walk('?limit=200'));
    expect(all).not.toMatch(/gone@audit|Gustav/);
    expect(all).toContain('[erased]');
    expect(await audit(`?actor=${email}`)).toEqual([]);
    for (const accept of ['text/csv', 'application/x-ndjson']) {
      expect((await api.call('GET', '/audit', { token, headers: { accept } })).text).not.toMatch(/gone@audit|Gustav/);
    }
  });
});

describe('an export', () => {
  const take = (accept: string, query = '', method = 'GET'): Promise<ApiAnswer> =>
    api.call(method, `/audit${query}`, { token, headers: { accept } });

  const linesIn = (text: string): readonly Entry[] =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Entry);

  test('as NDJSON has what all pages have', async () => {
    const entries = await walk('?limit=200');
    const { status, headers, text } = await take('application/x-ndjson');
    expect([status, headers.get('content-type'), headers.get('etag')]).toEqual([200, 'application/x-ndjson', null]);
    expect(headers.get('content-disposition')).toBe('attachment; filename="audit.ndjson"');
    expect(headers.get('vary')).toContain('accept');
    expect(linesIn(text)).toEqual(entries);
  });

  test('of more than a page has all of it', async () => {
    const checkpoint = `/websites/${String(ids.zoo)}/delivery/checkpoints/qa`;
    await call('PUT', `/websites/${String(ids.zoo)}/delivery`, {});
    for (let index = 0; index < 210; index += 1) {
      await call('PUT', checkpoint, { status: index % 2 === 0 ? 'in_progress' : 'pending' });
    }
    const entries = await walk('?limit=200');
    expect(entries.length).toBeGreaterThan(220);
    const { text } = await take('application/x-ndjson');
    expect(linesIn(text).map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
    expect((await take('text/csv', '?sort=at')).text.split('\r\n')).toHaveLength(entries.length + 2);
    expect(await walk('')).toHaveLength(entries.length);
    expect((await call('GET', '/audit')).body).toHaveLength(50);
  });

  test('as CSV has a header, a line for each entry, and no formula', async () => {
    const query = `?websiteId=${String(ids.bakery)}&sort=at`;
    const entries = await walk(query);
    const { status, headers, text } = await take('text/csv', query);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8; header=present']);
    const lines = text.split('\r\n');
    expect(lines[0]).toBe('id,at,type,websiteId,subject,name,role,via,tokenId,requestId,data,omitted');
    expect(lines).toHaveLength(entries.length + 2);
    expect(lines.slice(1, -1).map((line) => line.split(',', 3))).toEqual(entries.map(({ id, at, type }) => [id, at, type]));
    const everything = (await take('text/csv')).text;
    expect(everything).toContain('=Anna');
    expect(everything).not.toMatch(/(?:^|,)"?[=+@\t-]/m);
  });

  test('of a part', async () => {
    const { headers } = await call('GET', '/audit?limit=2');
    const next = /cursor=([^&>]+)/.exec(headers.get('link') ?? '')?.[1] ?? '';
    const rest = linesIn((await take('application/x-ndjson', `?cursor=${next}&limit=3&count=true`)).text);
    expect(rest.map(({ id }) => id)).toEqual((await walk('')).slice(2, 5).map(({ id }) => id));
    expect((await take('application/x-ndjson', '?from=2099-01-01')).text).toBe('');
    expect((await take('text/csv', '?from=2099-01-01')).text).toMatch(/^id,[^\n]*\r\n$/);
  });

  test('of some by their ids', async () => {
    const [first, , third] = (await walk('?limit=3')).map(({ id }) => id);
    const query = `?ids=${String(third)},none,${String(first).slice(0, -1)},${String(first)}&count=true`;
    const { headers, text } = await take('application/x-ndjson', query);
    expect([headers.get('total-count'), ...linesIn(text).map(({ id }) => id)]).toEqual(['2', third, first]);
    expect((await take('text/csv', query)).text.split('\r\n')).toHaveLength(4);
    expect((await take('text/csv', `?ids=${String(first)}.0`)).text.split('\r\n')).toHaveLength(2);
    expect((await take('application/json', `?ids=${String(first)}&actor=nobody`)).status).toBe(400);
  });

  test.each([
    ['text/csv', 'text/csv'],
    ['text/csv;q=0.4, application/x-ndjson;q=0.8', 'application/x-ndjson'],
    ['text/csv;q=0, application/x-ndjson', 'application/x-ndjson'],
    ['application/json, text/csv;q=0.9', 'application/json'],
    ['*/*', 'application/json'],
    ['text/html, */*;q=0.1', 'application/json'],
    ['image/png', 'application/json'],
    ['text/*', 'text/csv'],
  ])('Accept: %s gets %s', async (accept, type) => {
    expect((await take(accept, '?limit=1')).headers.get('content-type')).toMatch(new RegExp(`^${type}(;|$)`));
  });

  test('is refused before it begins', async () => {
    expect(await take('text/csv', '?from=never')).toMatchObject({ status: 400, body: { code: 'invalid_query' } });
    const viewer = await api.mintToken({ role: 'client', subject: 'nobody' });
    const answer = await api.call('GET', '/audit', { token: viewer, headers: { accept: 'text/csv' } });
    expect(answer).toMatchObject({ status: 403, body: { error: 'Admin role required' } });
  });

  test('HEAD says what it would be', async () => {
    const { status, headers, text } = await take('text/csv', '', 'HEAD');
    expect([status, headers.get('content-type'), text]).toEqual([200, 'text/csv; charset=utf-8; header=present', '']);
  });

  test('comes compressed to who asks for it', async () => {
    const answer = await fetch(`${api.url}/v1/audit`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson', 'accept-encoding': 'gzip' },
    });
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(linesIn(await answer.text())).toEqual(await walk('?limit=200'));
  });
});

test('long documents are left out, of however many versions, and everything else is there', async () => {
  const websiteId = await made('/websites', { name: 'Mill', slug: 'mill', tier: 'growth' });
  const hashes: string[] = [];
  for (let version = 0; version < 25; version += 1) {
    const sent = { baseHash: hashes.at(-1) ?? null, body: { version, text: 'x'.repeat(20_000) } };
    const { body } = await call('PUT', `/websites/${websiteId}/content/site`, sent);
    hashes.push((body as { hash: string }).hash);
    if (version % 7 === 0)
      await call('PUT', `/websites/${websiteId}/content/note${String(version)}`, { baseHash: null, body: {} });
  }
  const saved = (await walk(`?websiteId=${websiteId}&sort=at&limit=9`)).filter(({ type }) => type === 'ContentSaved');
  const long = saved.filter(({ data }) => data.documentId === 'site');
  const short = saved.filter(({ data }) => data.documentId !== 'site');
  expect(long).toMatchObject(hashes.map((hash) => ({ data: { hash }, omitted: ['body'] })));
  expect(long.some(({ data }) => 'body' in data)).toBe(false);
  expect(short).toMatchObject(Array(4).fill({ data: { body: {} } }));
  const named = await audit(`?ids=${long.map(({ id }) => id).join()}`);
  expect(named).toEqual(long);
  const csv = await api.call('GET', `/audit?ids=${long.map(({ id }) => id).join()}`, { token, headers: { accept: 'text/csv' } });
  expect(csv.text.split('\r\n').filter((line) => line.endsWith(',body'))).toHaveLength(long.length);
});
