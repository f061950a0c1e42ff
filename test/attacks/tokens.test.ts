import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createOidcIssuer } from '../../src/integrations/identity/oidcIssuer.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { audience, startTestIssuer, type TestIssuer } from '../support/oidcIssuer.js';
import { createShiftedClock } from '../support/shiftedClock.js';
import { pdf, upload } from '../support/upload.js';

/**
 * Somebody who got hold of a token, or who is about to lose it, tries to keep or to gain access
 * through keys that it mints, sees or revokes.
 */

interface Key {
  readonly id: string;
  readonly token: string;
  readonly name: string;
  readonly role: string;
  readonly parentId?: string;
  readonly expiresAt?: string;
}

const clock = createShiftedClock();
const scimToken = 'scim-secret';
let issuer: TestIssuer;
let api: RunningApi;
/** Another process of the same installation, without a projector. */
let other: RunningApi;

beforeAll(async () => {
  issuer = await startTestIssuer();
  issuer.scimToken = scimToken;
  const identityProvider = createOidcIssuer(
    {
      url: issuer.url,
      audience,
      roleClaim: ['role'],
      subjectCheck: { kind: 'scim', url: issuer.scimUrl, token: scimToken },
    },
    { clock },
  );
  api = await startApi({ clock, identityProvider });
  other = await startApi({ clock, identityProvider, folder: api.folder, projector: false });
});

afterAll(() => issuer.stop());

beforeEach(() => {
  issuer.broken = false;
  issuer.deletedSubjects.clear();
});

const post = (token: string, body: Record<string, unknown> = {}, at = api): Promise<ApiAnswer> =>
  at.call('POST', '/api-keys', { token, body: { name: 'minted', ...body } });

const mint = async (token: string, body: Record<string, unknown> = {}): Promise<Key> => {
  const answer = await post(token, body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body as Key;
};

const signedIn = async (claims: Record<string, unknown>): Promise<Record<string, string>> => ({
  authorization: `Bearer ${await issuer.sign({ ...claims, exp: Math.floor(clock.now() / 1_000) + 600 })}`,
});

const mintInPortal = async (claims: Record<string, unknown>): Promise<Key> => {
  const headers = await signedIn(claims);
  const answer = await api.call('POST', '/api-keys', { headers, body: { name: 'minted' } });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body as Key;
};

const list = async (token: string, query = ''): Promise<readonly Key[]> => {
  const answer = await api.call('GET', `/api-keys${query}`, { token });
  expect(answer.status).toBe(200);
  return answer.body as readonly Key[];
};

const revoke = (token: string, id: string, at = api): Promise<ApiAnswer> => at.call('DELETE', `/api-keys/${id}`, { token });

/** What a token gets at each process: 200, or why not. */
const standing = async (token: string): Promise<readonly unknown[]> =>
  Promise.all(
    [api, other].map(async (at) => {
      const { status, body } = await at.call('GET', '/me', { token });
      return status === 200 ? status : [status, (body as { error: string }).error];
    }),
  );

const works = [200, 200];
const refused = (error: string): unknown => [
  [401, error],
  [401, error],
];
const invalid = refused('Invalid token');
const stale = refused('Your session is stale');

const inSeconds = (seconds: number): string => new Date(clock.now() + seconds * 1_000).toISOString();

describe('a token that is about to expire', () => {
  test('mints none that lives longer, by saying nothing of the end or by asking for more', async () => {
    const expiresAt = inSeconds(15);
    const parent = await api.mintToken({ subject: 'brief', expiresAt });
    expect(await mint(parent)).toMatchObject({ expiresAt });
    expect((await mint(parent, { expiresAt: inSeconds(10) })).token).toBeDefined();
    expect(await post(parent, { expiresAt: inSeconds(16) })).toMatchObject({
      status: 400,
      body: { error: 'Invalid request body — expiresAt: must not be later than the expiry of the token that mints the key' },
    });
  });

  test('leaves nothing behind', async () => {
    const parent = await api.mintToken({ subject: 'brief', expiresAt: inSeconds(15) });
    const child = await mint(parent);
    const grandchild = await mint(child.token);
    expect(await standing(grandchild.token)).toStrictEqual(works);
    clock.shift(15_000);
    expect(await standing(child.token)).toStrictEqual(invalid);
    expect(await standing(grandchild.token)).toStrictEqual(invalid);
  });

  test('gets no lasting token that was minted before under an Idempotency-Key', async () => {
    const lasting = await api.mintToken({ subject: 'repeater' });
    const brief = await api.mintToken({ subject: 'repeater', expiresAt: inSeconds(15) });
    const ask = (token: string): Promise<ApiAnswer> =>
      api.call('POST', '/api-keys', { token, body: { name: 'ci' }, headers: { 'idempotency-key': 'mint-1' } });
    const first = await ask(lasting);
    expect((await ask(lasting)).body).toStrictEqual(first.body);
    const stolen = (await ask(brief)).body as Key;
    expect(stolen.token).not.toBe((first.body as Key).token);
    expect(stolen.expiresAt).toBeDefined();
  });
});

describe('what a token minted', () => {
  test('falls with it at every process, whatever was minted in between', async () => {
    const root = await api.mintToken({ subject: 'family' });
    const parent = await mint(root);
    const child = await mint(parent.token, { role: 'client' });
    const grandchild = await mint(child.token);
    const sibling = await mint(root);
    expect(child.parentId).toBe(parent.id);
    expect(await standing(grandchild.token)).toStrictEqual(works);

    expect((await revoke(root, parent.id, other)).status).toBe(204);

    for (const { token } of [parent, child, grandchild]) expect(await standing(token)).toStrictEqual(invalid);
    expect(await standing(sibling.token)).toStrictEqual(works);
    expect((await list(root)).map(({ id }) => id)).toStrictEqual([sibling.id, expect.any(String)]);
  });

  test('while it was being revoked falls too', async () => {
    const root = await api.mintToken({ subject: 'racer' });
    for (let answered = 0; answered < 4; answered += 1) {
      const parent = await mint(root);
      const minting = Array.from({ length: 4 }, () => post(parent.token));
      await Promise.all(minting.slice(0, answered));
      const [, ...answers] = await Promise.all([revoke(root, parent.id, other), ...minting]);
      for (const { status, body } of answers) {
        expect([201, 401]).toContain(status);
        if (status === 201) expect(await standing((body as Key).token)).toStrictEqual(invalid);
      }
      expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThanOrEqual(answered);
    }
    expect(await list(root)).toHaveLength(1);
  });

  test('in the portal does not end with that session', async () => {
    const { token } = await mintInPortal({ sub: 'visitor' });
    clock.shift(3_600_000);
    expect(await standing(token)).toStrictEqual(works);
  });
});

describe('a token of the client role', () => {
  test('neither sees nor revokes the admin keys of its subject', async () => {
    const admin = await api.mintToken({ subject: 'both' });
    const { id, token } = await mint(admin);
    const client = await mint(admin, { role: 'client' });
    expect((await list(client.token)).map((key) => key.id)).toStrictEqual([client.id]);
    expect(await revoke(client.token, id)).toMatchObject({ status: 404, body: { error: `API key ${id} not found` } });
    expect(await standing(token)).toStrictEqual(works);
    expect((await list(admin)).length).toBe(3);
  });

  test('reads and revokes nothing of another subject', async () => {
    const admin = await api.mintToken({ subject: 'somebody' });
    const theirs = await mint(admin, { role: 'client' });
    const client = await api.mintToken({ subject: 'nosy', role: 'client' });
    expect(await api.call('GET', '/api-keys?subject=somebody', { token: client })).toMatchObject({
      status: 403,
      body: { error: 'Admin role required' },
    });
    expect((await revoke(client, theirs.id)).status).toBe(404);
    expect(await list(client, '?subject=nosy')).toHaveLength(1);
  });

  test('mints no admin, and one to read mints nothing', async () => {
    const client = await api.mintToken({ subject: 'climber', role: 'client' });
    expect((await post(client, { role: 'admin' })).status).toBe(403);
    const reader = await api.mintToken({ subject: 'reader', scope: 'read' });
    for (const scope of ['read', 'write']) {
      expect(await post(reader, { scope })).toMatchObject({ status: 403, body: { code: 'read_only_token' } });
    }
  });
});

test('an admin sees and revokes the keys of anybody', async () => {
  const admin = await api.mintToken({ subject: 'boss' });
  const mine = await api.mintToken({ subject: 'ann@example.com', role: 'client' });
  const child = await mint(mine);
  const keys = await list(admin, '?subject=ann%40example.com');
  expect(keys.map(({ role }) => role)).toStrictEqual(['client', 'client']);
  for (const token of [mine, child.token]) expect(JSON.stringify(keys)).not.toContain(token);
  expect((await revoke(admin, keys[1]?.id ?? '')).status).toBe(204);
  expect(await standing(mine)).toStrictEqual(invalid);
  expect(await standing(child.token)).toStrictEqual(invalid);
});

describe('a subject who is gone from the identity provider', () => {
  test.each([
    ['client', {}],
    ['admin', { role: 'admin' }],
  ])('has no %s token any more, nor what it minted, within a minute', async (role, claims) => {
    const subject = `leaver-${role}`;
    const { token } = await mintInPortal({ sub: subject, ...claims });
    const child = await mint(token);
    expect(await standing(token)).toStrictEqual(works);
    issuer.deletedSubjects.add(subject);
    clock.shift(60_000);
    expect(await standing(token)).toStrictEqual(stale);
    expect(await standing(child.token)).toStrictEqual(stale);
  });

  test.each(['', '?as=viewer@example.com'])('opens no file by an address that their admin token got%s', async (asked) => {
    const { token } = await mintInPortal({ sub: `boss${asked}`, role: 'admin' });
    const slug = asked === '' ? 'bakery' : 'florist';
    const website = (await api.call('POST', '/websites', { token, body: { name: 'Bakery', slug } })).body as Key;
    const path = `/websites/${website.id}`;
    await api.call('POST', '/clients', { token, body: { email: 'viewer@example.com' } });
    await api.call('POST', `${path}/clients`, { token, body: { email: 'viewer@example.com', role: 'viewer' } });
    const { id } = (await upload(api, `${path}/documents`, { token, content: pdf })).body as Key;
    const { url } = (await api.call('GET', `${path}/documents/${id}/url${asked}`, { token })).body as { url: string };
    const status = async (): Promise<number> => (await fetch(url, { method: 'HEAD' })).status;
    expect(await status()).toBe(200);
    issuer.deletedSubjects.add(`boss${asked}`);
    clock.shift(60_000);
    expect(await standing(token)).toStrictEqual(stale);
    expect(await status()).toBe(403);
  });

  test('is no admin any more in what is explained of them', async () => {
    await mintInPortal({ sub: 'leaver', role: 'admin' });
    const token = await api.mintToken();
    const website = (await api.call('POST', '/websites', { token, body: { name: 'Cafe', slug: 'cafe' } })).body as Key;
    const explained = async (): Promise<unknown> => {
      const { body } = await api.call('GET', `/websites/${website.id}/access?subject=leaver`, { token });
      return (body as { readonly person: unknown }).person;
    };
    expect(await explained()).toMatchObject({ role: 'admin', roleFrom: 'apiKey', standing: 'admin' });
    issuer.deletedSubjects.add('leaver');
    clock.shift(60_000);
    expect(await explained()).toMatchObject({ role: 'client', roleFrom: 'nothing', standing: 'stranger' });
  });

  test('cannot be asked about: 503, not let in', async () => {
    const { token } = await mintInPortal({ sub: 'unclear' });
    clock.shift(60_000);
    issuer.broken = true;
    expect(await api.call('GET', '/me', { token })).toMatchObject({
      status: 503,
      body: { error: 'The identity provider cannot be reached' },
    });
  });

  test('has nothing to do with an admin token that the operator minted, whose subject is of their choice', async () => {
    const token = await api.mintToken({ subject: 'pipeline' });
    issuer.deletedSubjects.add('pipeline');
    expect(await standing(token)).toStrictEqual(works);
    expect(await standing((await mint(token)).token)).toStrictEqual(works);
  });
});

describe('fifty live keys', () => {
  const tooMany = { status: 400, body: { error: 'Too many API keys', code: 'too_many_api_keys' } };

  test('are the most, also when two processes mint at once', async () => {
    const root = await api.mintToken({ subject: 'collector' });
    const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => post(root, {}, index % 2 === 0 ? api : other)));
    const minted = answers.filter(({ status }) => status === 201);
    expect(minted).toHaveLength(49);
    for (const answer of answers.filter(({ status }) => status !== 201)) expect(answer).toMatchObject(tooMany);
    expect(await list(root, '?limit=200')).toHaveLength(50);
    expect(await post(root)).toMatchObject(tooMany);
    expect((await api.call('POST', '/api-keys?dryRun=1', { token: root, body: { name: 'never' } })).status).toBe(400);

    const [one] = minted;
    expect((await revoke(root, (one?.body as Key).id)).status).toBe(204);
    expect((await post(root)).status).toBe(201);
    expect(await post(root)).toMatchObject(tooMany);
  });

  test('do not include expired and fallen ones', async () => {
    const root = await api.mintToken({ subject: 'renewer' });
    const parent = await mint(root);
    for (let count = 2; count < 30; count += 1) await mint(root, { expiresAt: inSeconds(30) });
    for (let count = 30; count < 50; count += 1) await mint(parent.token);
    expect(await post(root)).toMatchObject(tooMany);
    expect((await revoke(root, parent.id)).status).toBe(204);
    for (let count = 0; count < 21; count += 1) await mint(root);
    expect(await post(root)).toMatchObject(tooMany);
    clock.shift(30_000);
    expect((await post(root)).status).toBe(201);
  });

  test('that were short-lived leave the lists, so that these do not grow with each', async () => {
    const root = await api.mintToken({ subject: 'hasty' });
    const idsOf = async (): Promise<readonly string[]> => (await list(root, '?limit=200')).map(({ id }) => id);
    const [first] = await idsOf();
    for (let round = 0; round < 3; round += 1) {
      const brief = await mint(root, { expiresAt: inSeconds(10) });
      expect(await idsOf()).toStrictEqual([brief.id, first]);
      clock.shift(10_000);
    }
    const { id } = await mint(root);
    expect(await idsOf()).toStrictEqual([id, first]);
  });
});
