import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startDnsServer, type DnsServer } from '../support/dnsServer.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { createShiftedClock } from '../support/shiftedClock.js';

interface Record {
  readonly type: string;
  readonly name: string;
  readonly value: string;
  readonly purpose: string;
  readonly found: boolean;
}
interface DomainBody {
  readonly domain: string;
  readonly status: string;
  readonly records: readonly Record[];
  readonly problem?: string;
}

let dns: DnsServer;
let api: RunningApi;
/** Another process on the same stores. */
let other: RunningApi;
let token: string;
let websiteId: string;
let rivalId: string;

beforeAll(async () => {
  dns = await startDnsServer();
  const environment = {
    ...{ BASE_URL: 'https://doorstep.example.com', SITES_URL: 'https://sites.example.net', SMTP_URL: 'smtp://127.0.0.1:1' },
    ...{ DNS_SERVERS: dns.address, DOMAIN_TARGET: 'in.example.net,192.0.2.10,2001:DB8:0::10' },
  };
  api = await startApi({ environment });
  other = await startApi({ environment, folder: api.folder, projector: false });
  token = await api.mintToken();
});

let count = 0;
const newWebsite = async (): Promise<string> => {
  count += 1;
  const body = { name: 'Bakery', slug: `bakery-${String(count)}` };
  return ((await api.call('POST', '/websites', { token, body })).body as { id: string }).id;
};
let domain: string;
beforeEach(async () => {
  dns.mood = 'answer';
  dns.failing.clear();
  [websiteId, rivalId] = [await newWebsite(), await newWebsite()];
  domain = `www.bakery-${String(count)}.example`;
});

const add = (id = websiteId, name = domain, query = ''): Promise<ApiAnswer> =>
  api.call('POST', `/websites/${id}/domains${query}`, { token, body: { domain: name } });
const get = (path: string, at = api): Promise<ApiAnswer> => at.call('GET', path, { token });
const verify = (id = websiteId, name = domain): Promise<ApiAnswer> =>
  api.call('POST', `/websites/${id}/domains/${name}/verify`, { token });
const remove = (id = websiteId, name = domain): Promise<ApiAnswer> =>
  api.call('DELETE', `/websites/${id}/domains/${name}`, { token });
const ask = async (name: string, at = other): Promise<number> =>
  (await at.call('GET', `/tls/ask?domain=${encodeURIComponent(name)}`)).status;
const bodyOf = ({ body }: ApiAnswer): DomainBody => body as DomainBody;
const ownership = (answer: ApiAnswer): Record => {
  const [record] = bodyOf(answer).records;
  if (record?.purpose !== 'ownership') throw new Error(`no ownership record in ${answer.text}`);
  return record;
};
/** Sets the ownership record of the answer in DNS. */
const prove = (answer: ApiAnswer): void => {
  const { name, value } = ownership(answer);
  dns.zone.set(name, { TXT: ['v=spf1 -all', value] });
};
const notFound = { status: 404, body: { error: 'Domain not found', code: 'domain_not_found' } };
const taken = { status: 400, body: { error: 'domain already exists', code: 'domain_taken' } };

describe('a domain', () => {
  test('is read by `ids`, however long its hostname is', async () => {
    const longest = `${'a'.repeat(57)}.${`${'b'.repeat(60)}.`.repeat(3)}${domain}`.slice(-240);
    expect(await add(websiteId, longest)).toMatchObject({ status: 201, body: { domain: longest } });
    expect(await get(`/websites/${websiteId}/domains?ids=${longest}`)).toMatchObject({
      status: 200,
      body: [{ domain: longest }],
    });
  });

  test('is added, verified, asked for by a proxy, and removed, at once in every process', async () => {
    const added = await add();
    expect(added).toMatchObject({
      status: 201,
      body: {
        domain,
        websiteId,
        status: 'pending',
        records: [{ type: 'TXT', name: `_doorstep.${domain}`, found: false }, {}, {}, {}],
      },
    });
    expect(added.headers.get('location')).toBe(`/v1/websites/${websiteId}/domains/${domain}`);
    expect(bodyOf(added).records.slice(1)).toEqual([
      { type: 'CNAME', name: domain, value: 'in.example.net', purpose: 'address', found: false },
      { type: 'A', name: domain, value: '192.0.2.10', purpose: 'address', found: false },
      { type: 'AAAA', name: domain, value: '2001:db8::10', purpose: 'address', found: false },
    ]);
    expect(await ask(domain)).toBe(404);
    expect(bodyOf(await verify())).toMatchObject({ status: 'pending' });
    expect(await ask(domain)).toBe(404);

    prove(added);
    const verified = await verify();
    expect(verified).toMatchObject({ status: 200, body: { status: 'verified', verifiedAt: expect.any(String) } });
    expect(bodyOf(verified).records.map(({ found }) => found)).toEqual([true, false, false, false]);
    expect((await get(`/websites/${websiteId}/domains/${domain}`, other)).body).toEqual(verified.body);
    expect((await get(`/websites/${websiteId}/domains`)).body).toEqual([verified.body]);
    expect(await ask(`${domain.toUpperCase()}.`)).toBe(200);

    expect((await remove()).status).toBe(204);
    expect(await ask(domain)).toBe(404);
    expect(await get(`/websites/${websiteId}/domains/${domain}`, other)).toMatchObject(notFound);
    expect((await get(`/websites/${websiteId}/domains`)).body).toEqual([]);
    expect(await remove()).toMatchObject(notFound);
    expect(await verify()).toMatchObject(notFound);
  });

  test('is one name in every case and script, and added again it is the same', async () => {
    const name = `bäckerei-${String(count)}.example`;
    const [one, same] = [await add(websiteId, name), await add(websiteId, `${name.toUpperCase()}.`)];
    expect([one.status, same.status]).toEqual([201, 200]);
    expect(same.body).toEqual(one.body);
    expect(bodyOf(one).domain).toMatch(/^xn--[a-z0-9-]+\.example$/);
    expect((await get(`/websites/${websiteId}/domains/${encodeURIComponent(name)}`)).status).toBe(200);
  });

  test.each([
    ['https://www.bakery.example/', 'must be a hostname such as www.example.com, without scheme, port or path'],
    ['192.0.2.1', 'must be a hostname such as www.example.com, without scheme, port or path'],
    ['doorstep.example.com', 'is the service’s own'],
    ['other.sites.example.net', 'is the service’s own'],
    ['in.example.net', 'is the service’s own'],
    ['bakery.localhost', 'is the service’s own'],
  ])('cannot be %s', async (name, issue) => {
    expect(await add(websiteId, name)).toMatchObject({
      status: 400,
      body: { error: `Invalid request body — domain: ${issue}`, details: [{ field: 'domain', issue }] },
    });
  });

  test('that is only tried leaves nothing', async () => {
    const tried = await add(websiteId, domain, '?dryRun=1');
    expect(tried).toMatchObject({ status: 200, body: { events: [{ type: 'DomainAdded', data: { domain, websiteId } }] } });
    expect((await get(`/websites/${websiteId}/domains`)).body).toEqual([]);
    prove(await add());
    const path = `/websites/${websiteId}/domains/${domain}/verify?dryRun=1`;
    expect(await api.call('POST', path, { token })).toMatchObject({ body: { events: [{ type: 'DomainVerified' }] } });
    expect(await ask(domain)).toBe(404);
  });

  test('is listed newest first, in pages, with how many there are', async () => {
    const names = ['a', 'b', 'c'].map((label) => `${label}.${domain}`);
    for (const name of names) await add(websiteId, name);
    const first = await get(`/websites/${websiteId}/domains?limit=2&count=true`);
    const namesIn = ({ body }: ApiAnswer) => (body as DomainBody[]).map((one) => one.domain);
    expect([namesIn(first), first.headers.get('total-count')]).toEqual([[names[2], names[1]], '3']);
    const next = /\/v1([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? 'none';
    expect(namesIn(await get(next))).toEqual([names[0]]);
  });

  test('is one of 50 of a website at most', async () => {
    for (let index = 0; index < 50; index += 1) expect((await add(websiteId, `n${String(index)}.${domain}`)).status).toBe(201);
    expect(await add()).toMatchObject({ status: 400, body: { error: 'Too many domains', code: 'too_many_domains' } });
    expect((await add(websiteId, `n7.${domain}`)).status).toBe(200);
  });

  test('of an archived website stays as it is, and goes with the website', async () => {
    prove(await add());
    await verify();
    await api.call('POST', `/websites/${websiteId}/archive`, { token });
    const archived = { status: 400, body: { error: `Website ${websiteId} is archived` } };
    for (const answer of [await add(websiteId, `two.${domain}`), await verify(), await remove()]) {
      expect(answer).toMatchObject(archived);
    }
    expect(await ask(domain)).toBe(200);
  });
});

describe('a domain of two websites', () => {
  test('is the first one’s, until the other proves that it is theirs', async () => {
    await add();
    const refused = await add(rivalId);
    expect(refused).toMatchObject(taken);
    const [{ issue }] = (refused.body as { details: [{ issue: string }] }).details;
    const [, name = '', value = ''] = /set the TXT record (\S+) to (\S+) and add it again/.exec(issue) ?? [];
    dns.zone.set(name, { TXT: [value] });
    const won = await add(rivalId);
    expect(won).toMatchObject({ status: 201, body: { websiteId: rivalId, status: 'pending' } });
    expect(ownership(won)).toMatchObject({ name, value });
    expect(await get(`/websites/${websiteId}/domains/${domain}`)).toMatchObject(notFound);
    expect(bodyOf(await verify(rivalId))).toMatchObject({ status: 'verified' });
    expect(await verify()).toMatchObject(notFound);
  });

  test('that is verified cannot be taken over, even with the record of the other', async () => {
    const mine = await add();
    prove(mine);
    await verify();
    const { value } = ownership(await add(rivalId, `spare.${domain}`));
    dns.zone.set(`_doorstep.${domain}`, { TXT: [value] });
    expect(await add(rivalId)).toMatchObject(taken);
    await remove();
    expect((await add(rivalId)).status).toBe(201);
  });

  test('has another proof for each website, and for each domain', async () => {
    const values = [
      ownership(await add()).value,
      ownership(await add(websiteId, `two.${domain}`)).value,
      ownership(await add(rivalId, `three.${domain}`)).value,
    ];
    await remove();
    values.push(ownership(await add(rivalId)).value);
    expect(new Set(values).size).toBe(4);
    for (const value of values) expect(value).not.toContain(websiteId);
  });

  test('is not verified with the record of the one before', async () => {
    prove(await add());
    await remove();
    await add(rivalId);
    expect(bodyOf(await verify(rivalId))).toMatchObject({ status: 'pending' });
  });

  test('is free for the other a week after the first did not verify it', async () => {
    await add();
    const clock = createShiftedClock();
    clock.shift(8 * 86_400_000);
    const late = await startApi({ folder: api.folder, clock, projector: false, environment: { DNS_SERVERS: dns.address } });
    const again = await late.call('POST', `/websites/${rivalId}/domains`, { token, body: { domain } });
    expect(again.status).toBe(201);
    await late.stop();
  });

  test('added by both at once is one’s', async () => {
    const answers = await Promise.all([add(), add(rivalId)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
  });
});

describe('DNS', () => {
  test.each([
    ['silence', 'DNS did not answer in time'],
    ['failure', 'DNS cannot be asked right now'],
  ] as const)('in %s: nothing is changed, and the answer says so and what to set', async (mood, problem) => {
    const added = await add();
    prove(added);
    dns.mood = mood;
    const from = Date.now();
    expect(await verify()).toMatchObject({ status: 200, body: { ...bodyOf(added), status: 'pending', problem } });
    expect(Date.now() - from).toBeLessThan(10_000);
    dns.mood = 'answer';
    await verify();
    dns.mood = mood;
    expect(bodyOf(await verify())).toMatchObject({ status: 'verified', problem, records: [{ found: true }, {}, {}, {}] });
  });

  test('that answers in part changes what it answered alone', async () => {
    const problem = 'DNS cannot be asked right now';
    const foundNow = async (): Promise<unknown> => {
      const { records, ...body } = bodyOf(await verify());
      return [body.status, body.problem, ...records.map(({ found }) => found)];
    };
    prove(await add());
    dns.zone.set(domain, { A: ['192.0.2.10'] });
    dns.failing.add('AAAA');
    expect(await foundNow()).toEqual(['verified', problem, true, false, false, false]);
    dns.failing.clear();
    expect(await foundNow()).toEqual(['verified', undefined, true, false, true, false]);
    dns.failing.add('AAAA');
    expect(await foundNow()).toEqual(['verified', problem, true, false, true, false]);
    dns.failing.clear();
    dns.failing.add('TXT');
    dns.zone.set(domain, { AAAA: ['2001:db8::10'] });
    expect(await foundNow()).toEqual(['verified', problem, true, false, false, true]);
  });

  test('leads to the service by any of the records, and the check says by which', async () => {
    const foundWith = async (zone: Parameters<DnsServer['zone']['set']>[1]): Promise<readonly boolean[]> => {
      dns.zone.set(domain, zone);
      return bodyOf(await verify())
        .records.slice(1)
        .map(({ found }) => found);
    };
    prove(await add());
    dns.zone.set('in.example.net', { A: ['192.0.2.99'] });
    expect(await foundWith({ CNAME: 'in.example.net' })).toEqual([true, false, false]);
    expect(await foundWith({ A: ['192.0.2.10'] })).toEqual([false, true, false]);
    expect(await foundWith({ AAAA: ['2001:db8::10'] })).toEqual([false, false, true]);
    // As an apex has it whose DNS provider follows the name.
    expect(await foundWith({ A: ['192.0.2.99'] })).toEqual([true, false, false]);
    expect(await foundWith({ A: ['198.51.100.7'] })).toEqual([false, false, false]);
    expect(await ask(domain)).toBe(200);
  });
});

describe('the question of a proxy', () => {
  test.each(['nowhere.example', '127.0.0.1', 'localhost', '*.example', 'doorstep.example.com'])(
    'for %s is answered with 404',
    async (name) => {
      expect(await ask(name)).toBe(404);
    },
  );

  test('without a domain is malformed', async () => {
    expect(await api.call('GET', '/tls/ask')).toMatchObject({ status: 400, body: { code: 'invalid_query' } });
  });

  test('tells nothing of the website', async () => {
    prove(await add());
    await verify();
    expect((await api.call('GET', `/tls/ask?domain=${domain}`)).body).toEqual({ domain });
  });
});
