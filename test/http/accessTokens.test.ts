import { beforeAll, describe, expect, test } from '@jest/globals';
import { mintApiKey } from '../../src/commands/apiKey/apiKey.handlers.js';
import { apiKeyStream, keyOfId } from '../../src/events/apiKey/apiKey.stream.js';
import { accessTokenFrom } from '../../src/platform/accessToken.js';
import { systemRandom } from '../../src/platform/random.js';
import { eventually } from '../support/eventually.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { createShiftedClock } from '../support/shiftedClock.js';

interface Key {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly token: string;
  readonly lastUsedAt?: string;
}

const clock = createShiftedClock();
let api: RunningApi;
let other: RunningApi;
let token: string;

beforeAll(async () => {
  api = await startApi({ clock });
  other = await startApi({ folder: api.folder, clock, projector: false });
  token = await api.mintToken();
});

const mint = async (body: Record<string, unknown> = {}, as = token, headers = {}): Promise<ApiAnswer & { key: Key }> => {
  // Newest first is told apart by the millisecond.
  clock.shift(1);
  const answer = await api.call('POST', '/api-keys', { token: as, body: { name: 'ci', ...body }, headers });
  return { ...answer, key: answer.body as Key };
};
const list = async (as = token): Promise<readonly Key[]> =>
  (await api.call('GET', '/api-keys', { token: as })).body as readonly Key[];
const whoIs = (as: string, at = api): Promise<ApiAnswer> => at.call('GET', '/me', { token: as });
const revoke = (id: string, as = token, query = ''): Promise<ApiAnswer> =>
  api.call('DELETE', `/api-keys/${id}${query}`, { token: as });

const refused = (error: string, code: string, status = 401): object => ({ status, body: { error, code, details: null } });

describe('a token', () => {
  test('lets in as whom it was minted for', async () => {
    const client = await api.mintToken({ role: 'client', subject: 'c-1', verifiedEmail: 'ann@example.com' });
    expect((await whoIs(client)).body).toStrictEqual({
      subject: 'c-1',
      email: 'ann@example.com',
      role: 'client',
      credential: {
        kind: 'token',
        scope: 'write',
        id: expect.any(String),
        name: expect.any(String),
        prefix: client.slice(0, 12),
      },
      websites: [],
      invitations: [],
    });
  });

  test('learns what it is: its id, scope and expiry', async () => {
    const expiresAt = new Date(clock.now() + 3_600_000).toISOString();
    const { key } = await mint({ name: 'laptop', scope: 'read', expiresAt });
    expect((await whoIs(key.token)).body).toMatchObject({
      credential: { kind: 'token', scope: 'read', id: key.id, name: 'laptop', prefix: key.prefix, expiresAt },
    });
  });

  /** As events hold what belongs to the person of an address. */
  const encrypted = (address: string): Promise<string> => api.engine.personal.encrypt(address, address);

  test.each([
    ['whose subject', { subject: 'gone@example.com' }, 'gone@example.com'],
    ['whose address', { subject: 'c-2', verifiedEmail: 'gone-too@example.com' }, 'gone-too@example.com'],
  ])('%s was erased is Invalid token', async (_what, person, address) => {
    const gone = await api.mintToken({ role: 'client', ...person });
    expect((await whoIs(gone)).status).toBe(200);
    await api.engine.personal.cryptoShred(await encrypted(address));
    expect(await whoIs(gone)).toMatchObject(refused('Invalid token', 'invalid_token'));
  });

  test('writes in the name that it was minted for, also when its address belongs to somebody else by now', async () => {
    const subject = 'writer@example.com';
    const writer = await api.mintToken({ subject });
    const held = await encrypted(subject);
    await api.engine.personal.retire(held);
    expect(await encrypted(subject)).not.toBe(held);
    const { key } = await mint({ name: 'by the writer' }, writer);
    const { events } = await api.engine.eventStore.readStream(apiKeyStream.name({ key: keyOfId(key.id) }));
    expect(events.map(({ metadata }) => metadata.actor)).toMatchObject([{ subject: held, via: 'token', role: 'admin' }]);
  });

  test('brings the name of its owner along: a client who is made by a claim has it', async () => {
    const person = { subject: 'named', verifiedEmail: 'named@example.com', userName: 'Ann of the Bakery' };
    const context = {
      commandId: api.engine.ids.commandId(),
      actor: { subject: 'named', role: 'client', via: 'portal' },
      requestId: 'r',
    } as const;
    const input = { name: 'ci', callerRole: 'client', role: 'client', scope: 'write', ...person } as const;
    const minted = await mintApiKey(api.engine, input, api.engine.random.bytes(64), context);
    const website = await api.call('POST', '/websites', { token, body: { name: 'Bakery', slug: 'named' } });
    const clients = `/websites/${(website.body as { id: string }).id}/clients`;
    const body = { email: person.verifiedEmail, role: 'viewer' };
    const { invitation } = (await api.call('POST', clients, { token, body })).body as { invitation: { id: string } };
    const claimed = await api.call('POST', `/invitations/${invitation.id}/claim`, { token: minted.token });
    expect(claimed.body).toMatchObject({ link: { name: person.userName } });
  });

  test('is missing: 401 Missing token, with how to authenticate', async () => {
    const answer = await api.call('GET', '/v1/me');
    expect(answer).toMatchObject(refused('Missing token', 'missing_token'));
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  const changed = (text: string, index: number): string =>
    `${text.slice(0, index)}${text[index] === 'a' ? 'b' : 'a'}${text.slice(index + 1)}`;

  test.each<[string, () => string]>([
    ['mistyped', () => changed(token, 20)],
    ['with a mistyped checksum', () => changed(token, token.length - 1)],
    ['truncated', () => token.slice(0, -1)],
    ['too long', () => `${token}a`],
    ['of another kind', () => token.replace('svc_pat_', 'svc_xyz_')],
    ['in capitals', () => token.toUpperCase()],
    ['well-formed but nobody’s', () => accessTokenFrom(systemRandom.bytes(64))],
    ['nonsense', () => 'nonsense'],
  ])('%s is Invalid token', async (_what, make) => {
    expect(await whoIs(make().replace('’', ''))).toMatchObject(refused('Invalid token', 'invalid_token'));
  });

  test('that cannot be one is refused without a look-up', async () => {
    const { eventStore } = api.engine;
    const position = await eventStore.lastPosition();
    await eventStore.close();
    try {
      expect(await whoIs(token.slice(0, -1))).toMatchObject(refused('Invalid token', 'invalid_token'));
      expect((await whoIs(token)).status).toBe(503);
    } finally {
      await api.stop();
      api = await startApi({ folder: api.folder, clock });
      expect(await api.engine.eventStore.lastPosition()).toBe(position);
    }
  });

  test('is Invalid token where the portal comes in', async () => {
    const answer = await api.call('GET', '/me', { headers: { authorization: `Bearer ${token}` } });
    expect(answer).toMatchObject({ status: 401, body: { error: 'Invalid token', code: 'invalid_token' } });
  });

  test('the scheme is known in any case', async () => {
    expect((await api.call('GET', '/v1/me', { headers: { authorization: `bearer ${token}` } })).status).toBe(200);
  });

  test('to read with reads, and nothing else', async () => {
    const reader = await api.mintToken({ scope: 'read' });
    expect((await whoIs(reader)).status).toBe(200);
    expect((await list(reader)).length).toBeGreaterThan(0);
    for (const path of ['/api-keys', '/api-keys?dryRun=1']) {
      const answer = await api.call('POST', path, { token: reader, body: { name: 'more' } });
      expect(answer).toMatchObject(refused('Not authorized to write with a read-only token', 'read_only_token', 403));
    }
  });

  test('that lapses stops at its time', async () => {
    const lapsing = await api.mintToken({ expiresAt: new Date(clock.now() + 60_000).toISOString() });
    expect((await whoIs(lapsing)).status).toBe(200);
    clock.shift(60_000);
    expect(await whoIs(lapsing)).toMatchObject(refused('Invalid token', 'invalid_token'));
    clock.shift(-60_000);
  });

  test('is nowhere: not in the log of events, not in the log', async () => {
    const { key } = await mint();
    const { events } = await api.engine.eventStore.readAll({ after: 0n });
    const stored = JSON.stringify(events, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    expect(stored).toContain(key.prefix);
    expect(stored).not.toContain(key.token);
    expect(JSON.stringify(api.log)).not.toContain(key.token);
  });
});

describe('POST /api-keys', () => {
  test('201 with the token, which works at once on every instance', async () => {
    const { status, headers, key } = await mint({ name: ' deploys ' });
    expect(status).toBe(201);
    expect(key).toMatchObject({ name: 'deploys', role: 'admin', scope: 'write', prefix: key.token.slice(0, 12) });
    expect(key.token).toMatch(/^svc_pat_[0-9A-Za-z]{46}$/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect((await whoIs(key.token)).body).toMatchObject({ subject: 'ops@example.com', role: 'admin' });
    expect((await whoIs(key.token, other)).status).toBe(200);
  });

  test('an admin mints either role, a client its own', async () => {
    const { key } = await mint({ role: 'client' });
    expect((await whoIs(key.token)).body).toMatchObject({ role: 'client' });
    expect((await mint({}, key.token)).key).toMatchObject({ role: 'client' });
    expect(await mint({ role: 'admin' }, key.token)).toMatchObject(
      refused('Not authorized to mint an API key with the admin role', 'api_key_role_too_high', 403),
    );
  });

  test.each([
    ['without a name', { name: undefined }, 'name: is required'],
    ['with a blank name', { name: ' ' }, 'name: must not be blank'],
    ['with a name that nobody sees', { name: '\0\u200b' }, 'name: must not be blank; got 2 characters'],
    ['with another scope', { scope: 'all' }, 'scope: must be one of read, write; got 3 characters'],
    [
      'with a day for a time',
      { expiresAt: '2030-01-01' },
      'expiresAt: must be an ISO 8601 time with its offset, as in 2030-01-31T12:00:00.000Z; got 10 characters',
    ],
    ['lapsed already', { expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt: must be in the future'],
    ['for somebody else', { subject: 'other' }, 'subject: is not a known field'],
  ])('400 %s', async (_what, body, words) => {
    expect((await mint(body)).body).toMatchObject({ error: `Invalid request body — ${words}` });
  });

  test('a time with an offset is kept in UTC', async () => {
    const { key } = await mint({ expiresAt: '2099-01-01T02:00:00+02:00' });
    expect(key).toMatchObject({ expiresAt: '2099-01-01T00:00:00.000Z' });
  });

  test('?dryRun=1 mints nothing and tells no token', async () => {
    const before = await list();
    const answer = await api.call('POST', '/api-keys?dryRun=1', { token, body: { name: 'never' } });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      events: [{ type: 'APIKeyMinted', data: { name: 'never', subject: 'ops@example.com' } }, { type: 'APIKeyCounted' }],
    });
    expect(answer.text).not.toMatch(/svc_pat_\w{5,}/);
    expect(await list()).toStrictEqual(before);
  });
});

describe('GET /api-keys', () => {
  test('lists one’s own, newest first, without tokens', async () => {
    const mine = await api.mintToken({ subject: 'lister' });
    const first = (await mint({ name: 'first' }, mine)).key;
    const second = (await mint({ name: 'second' }, mine)).key;
    const keys = await list(mine);
    expect(keys.map(({ name }) => name)).toStrictEqual(['second', 'first', 'test']);
    const { token: _, ...shown } = second;
    expect(keys[0]).toStrictEqual(shown);
    expect(keys[1]?.id).toBe(first.id);
  });

  test('in pages', async () => {
    const mine = await api.mintToken({ subject: 'pager' });
    for (const name of ['1', '2', '3', '4']) await mint({ name }, mine);
    const seen: string[] = [];
    let path: string | undefined = '/api-keys?limit=2';
    while (path !== undefined) {
      const answer: ApiAnswer = await api.call('GET', path, { token: mine });
      seen.push(...(answer.body as readonly Key[]).map(({ name }) => name));
      const link = answer.headers.get('link');
      const next = link === null ? undefined : /^<(.*)>; rel="next"$/.exec(link)?.[1];
      expect(next?.startsWith(`${api.url}/v1/api-keys?limit=2&cursor=`) ?? true).toBe(true);
      path = next?.slice(`${api.url}/v1`.length);
    }
    expect(seen).toStrictEqual(['4', '3', '2', '1', 'test']);
  });

  test('tells when each was last used, to the minute', async () => {
    const mine = await api.mintToken({ subject: 'user' });
    const { key } = await mint({}, mine);
    expect(key.lastUsedAt).toBeUndefined();
    const minute = new Date(Math.floor(clock.now() / 60_000) * 60_000).toISOString();
    await whoIs(key.token);
    const used = await eventually(
      'its use',
      async () => (await list(mine)).find(({ id, lastUsedAt }) => id === key.id && lastUsedAt)?.lastUsedAt,
    );
    expect([minute, new Date(Date.parse(minute) + 60_000).toISOString()]).toContain(used);
  });
});

describe('DELETE /api-keys/:id', () => {
  test('204, and the token is refused at once, on every instance', async () => {
    const { key } = await mint();
    expect((await whoIs(key.token)).status).toBe(200);
    expect((await whoIs(key.token, other)).status).toBe(200);
    expect((await revoke(key.id)).status).toBe(204);
    expect(await whoIs(key.token)).toMatchObject(refused('Invalid token', 'invalid_token'));
    expect(await whoIs(key.token, other)).toMatchObject(refused('Invalid token', 'invalid_token'));
    expect((await list()).map(({ id }) => id)).not.toContain(key.id);
  });

  test('again: 404', async () => {
    const { key } = await mint();
    expect((await revoke(key.id)).status).toBe(204);
    expect((await revoke(key.id)).status).toBe(404);
  });

  test('its own', async () => {
    const { key } = await mint();
    expect((await revoke(key.id, key.token)).status).toBe(204);
    expect((await revoke(key.id, key.token)).status).toBe(401);
  });

  test('?dryRun=1 leaves it alone', async () => {
    const { key } = await mint();
    const answer = await revoke(key.id, token, '?dryRun=true');
    expect(answer.body).toMatchObject({
      events: [
        { type: 'APIKeyRevoked', data: { id: key.id } },
        { type: 'APIKeysReleased', data: { ids: [key.id] } },
      ],
    });
    expect((await whoIs(key.token)).status).toBe(200);
  });

  test.each<[string, () => Promise<string>]>([
    ['an unknown one', () => Promise.resolve('nobodys')],
    ['the right key under another time', async () => `0000000000${(await mint()).key.id.slice(10)}`],
  ])('404 for %s', async (_what, idOf) => {
    const id = await idOf();
    expect(await revoke(id)).toMatchObject(refused(`API key ${id} not found`, 'api_key_not_found', 404));
  });
});
