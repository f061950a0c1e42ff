import { createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from '@jest/globals';
import { DatabaseSync } from '@photostructure/sqlite';
import { importJWK, SignJWT, type JWK } from 'jose';
import type * as client from 'openid-client';
import { createCipher } from '../../src/platform/cipher.js';
import { systemClock } from '../../src/platform/clock.js';
import { encryptionKeyFile } from '../../src/platform/masterKeys.js';
import { systemRandom } from '../../src/platform/random.js';
import { createDurableRecords } from '../../src/projections/store/embedded/durableRecords.js';
import { freePort } from '../support/fleet.js';
import { createApi, operate, startServer, type Api } from '../support/server.js';
import { beginSignIn, createBrowser, discover, finishSignIn, type Place, type Tokens } from '../support/signIn.js';
import { temporaryFolder } from '../support/temporary.js';

/**
 * Somebody copied the key file, and later a backup that was made after the rotation. They want to
 * be an admin, or to read what was written since. The data folder was made by version 0.1.0, whose
 * service keys derived from the first master key.
 */

const version010 = fileURLToPath(new URL('../fixtures/dataFolders/0.1.0', import.meta.url));
const contents = JSON.parse(readFileSync(join(version010, 'contents.json'), 'utf8')) as { token: string; clientId: string };
const folder = join(temporaryFolder(), 'data');
const purposes = ['doorstep sign-in', 'doorstep sign-in cookies', 'doorstep kept answers', 'doorstep blind index'];

const derived = (from: Uint8Array, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', from, '', purpose, 32));
const masterKeyOf = (file: string): Buffer => Buffer.from(file.trim(), 'base64');
const keyFile = (): string => readFileSync(join(folder, encryptionKeyFile), 'utf8');

/** Stores the service keys as version 0.1.0 did at their first use. */
const useAsVersion010 = async (): Promise<void> => {
  const master = masterKeyOf(keyFile());
  const records = await createDurableRecords({ file: join(folder, 'vault.db'), clock: systemClock });
  const { wrapped } = (await records.get('vaultRoots', '0')) as { wrapped: string };
  const root = createCipher(derived(master, 'doorstep vault'), systemRandom).decrypt(wrapped, 'root/0');
  for (const purpose of purposes) {
    const entry = createCipher(root, systemRandom).encrypt(derived(master, purpose), `service/${purpose}`);
    await records.insert('vaultServices', purpose, { root: 0, wrapped: entry });
  }
  await records.close();
};

/** The copy that an attacker has of the vault and of the records of sign-in. */
interface Copy {
  readonly vault: readonly Row[];
  readonly records: readonly Row[];
}

interface Row {
  readonly collection: string;
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** As `npm run backup` copies databases. */
const backUp = (): Copy => {
  const rowsOf = (name: string): readonly Row[] => {
    const target = join(temporaryFolder(), name);
    const database = new DatabaseSync(join(folder, name), { timeout: 10_000 });
    database.prepare('VACUUM INTO ?').run(target);
    database.close();
    const copy = new DatabaseSync(target, { readOnly: true });
    const rows = copy.prepare('SELECT collection, key, value FROM record').all() as unknown as (Row & { value: string })[];
    copy.close();
    return rows.map(({ collection, key, value }) => ({
      collection,
      key: JSON.parse(key) as string,
      value: JSON.parse(value) as Row['value'],
    }));
  };
  return { vault: rowsOf('vault.db'), records: rowsOf('records.db') };
};

const openedBy = (keys: readonly Uint8Array[], text: unknown, context: string): readonly Buffer[] =>
  keys.flatMap((key) => {
    try {
      return [createCipher(key, systemRandom).decrypt(String(text), context)];
    } catch {
      return [];
    }
  });

/** Every key of the service that follows from master keys and copies of the vault. */
const keysFrom = (masters: readonly Buffer[], copies: readonly Copy[]): ReadonlyMap<string, readonly Buffer[]> => {
  const vault = copies.flatMap((copy) => copy.vault);
  const wrapping = masters.map((master) => derived(master, 'doorstep vault'));
  const open = (
    collection: string,
    keys: readonly Uint8Array[],
    bound: (key: string) => string,
  ): readonly (readonly [string, Buffer])[] =>
    vault
      .filter((row) => row.collection === collection)
      .flatMap(({ key, value }) => openedBy(keys, value['wrapped'], bound(key)).map((bytes) => [key, bytes] as const));
  const roots = open('vaultRoots', wrapping, (key) => `root/${key}`).map(([, root]) => root);
  const stored = open('vaultServices', roots, (key) => `service/${key}`);
  const generations = open('vaultGenerations', roots, (key) => `generation/${key}`).map(([, seed]) => seed);
  return new Map(
    purposes.map((purpose) => [
      purpose,
      [
        ...[...masters, ...roots, ...generations].map((from) => derived(from, purpose)),
        ...stored.filter(([key]) => key === purpose).map(([, key]) => key),
      ],
    ]),
  );
};

/** Without its context, which holds secrets, a text can be decrypted but not authenticated. */
const decrypted = (keys: readonly Buffer[], text: unknown): Readonly<Record<string, unknown>> | undefined => {
  const bytes = Buffer.from(String(text).replace(/^\d+\./, ''), 'base64');
  // Random bytes look like the shortest texts (`{}`, `7`) now and then, and these tell nothing.
  if (bytes.length < 28 + 8) return undefined;
  for (const key of keys) {
    try {
      const plain = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).update(bytes.subarray(28)).toString();
      return JSON.parse(plain) as Readonly<Record<string, unknown>>;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
};

const readableRows = (
  keys: ReadonlyMap<string, readonly Buffer[]>,
  { records }: Copy,
): readonly (Row & { plain: Row['value'] })[] =>
  records.flatMap((row) => {
    const isSignIn = row.collection.startsWith('signIn.');
    const plain = decrypted(
      keys.get(isSignIn ? 'doorstep sign-in' : 'doorstep kept answers') ?? [],
      isSignIn ? row.value['encrypted'] : row.value['reply'],
    );
    return plain === undefined ? [] : [{ ...row, plain }];
  });

/** One for each sign-in, of which an address has few. */
const admins = Array.from({ length: 8 }, (_, index) => `admin${String(index)}@example.com`);
let signIns = 0;

const baseUrl = 'https://doorstep.localhost';
const callback = `${baseUrl}/auth/callback`;
const addresses: string[] = [];
let admin: Api;
let portal: client.Configuration;
/** The process that gets the next request. */
let turn = 0;
const place: Place = { baseUrl, via: () => addresses[turn] ?? '' };
let sessionCookie = '';

beforeAll(async () => {
  cpSync(version010, folder, { recursive: true });
  await useAsVersion010();
  const environment = { ADMIN_EMAILS: admins.join(','), BASE_URL: baseUrl, PROCESS_ROLES: 'api' };
  const ports = [await freePort(), await freePort()].map(String);
  await Promise.all(ports.map((PORT) => startServer(folder, { ...environment, PORT })));
  addresses.push(...ports.map((port) => `http://127.0.0.1:${port}`));
  admin = createApi(place.via(), contents.token);
  portal = await discover(place);
});

const signIn = async (): Promise<Tokens> => {
  const email = admins[signIns++] ?? '';
  const browser = createBrowser(place);
  const attempt = await beginSignIn(portal, callback);
  const page = await browser.post((await browser.get(attempt.url)).url, { email });
  const [mail] = (await admin.get(`/outbox?to=${email}`)).body as readonly { text: string }[];
  const end = await browser.post(page.url, { code: /\b\d{4} \d{4}\b/.exec(mail?.text ?? '')?.[0] ?? '' });
  sessionCookie = browser.cookies().find((name) => name.endsWith('_session')) ?? '';
  return finishSignIn(portal, attempt, end.url);
};

const statusesOfMe = (token: string): Promise<readonly number[]> =>
  Promise.all(
    addresses.map(async (address) => (await fetch(`${address}/me`, { headers: { authorization: `Bearer ${token}` } })).status),
  );

const refresh = async (token: unknown): Promise<boolean> => {
  const form = { grant_type: 'refresh_token', client_id: 'doorstep-portal', refresh_token: String(token) };
  return (await fetch(`${place.via()}/oidc/token`, { method: 'POST', body: new URLSearchParams(form) })).ok;
};

/** Whether a browser with this cookie is signed in. */
const hasSession = async (id: unknown, cookieKey: Buffer): Promise<boolean> => {
  const cookie = `${sessionCookie}=${String(id)}`;
  const signature = createHmac('sha1', cookieKey.toString('base64url')).update(cookie).digest('base64url');
  const { url } = await beginSignIn(portal, callback, { prompt: 'none' });
  const headers = { cookie: `${cookie}; ${sessionCookie}.sig=${signature}` };
  const answer = await fetch(place.via() + url.slice(baseUrl.length), { redirect: 'manual', headers });
  return new URL(answer.headers.get('location') ?? '', baseUrl).searchParams.has('code');
};

/** Which ways lead in for somebody with these master keys and copies. */
const attack = async (masters: readonly Buffer[], copies: readonly Copy[]): Promise<readonly string[]> => {
  const keys = keysFrom(masters, copies);
  const rows = copies.flatMap((copy) => readableRows(keys, copy));
  const found = new Set<string>();
  for (const { collection, plain } of rows) {
    if (collection === 'signIn.key') {
      const jwk = plain as JWK;
      const token = await new SignJWT({ email: admins[0], email_verified: true, role: 'admin' })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', ...(jwk.kid !== undefined && { kid: jwk.kid }) })
        .setIssuer(`${baseUrl}/oidc`)
        .setAudience(baseUrl)
        .setSubject('user-0123456789abcdefghjkmnpqrs')
        .setExpirationTime('10m')
        .sign(await importJWK(jwk, 'ES256'));
      if ((await statusesOfMe(token)).includes(200)) found.add('a token signed with a stored key');
    }
    if (collection === 'signIn.Session') {
      for (const key of keys.get('doorstep sign-in cookies') ?? []) {
        if (await hasSession(plain['jti'], key)) found.add('a session');
      }
    }
    if (collection === 'signIn.RefreshToken' && (await refresh(plain['jti']))) found.add('a refresh token');
  }
  return [...found].sort();
};

/** What a copy holds that one before it did not, as far as it can be read. */
const readableSince = (keys: ReadonlyMap<string, readonly Buffer[]>, before: Copy, after: Copy): readonly Row[] => {
  const known = new Set(before.records.map((row) => JSON.stringify(row.value)));
  return readableRows(keys, after).filter((row) => !known.has(JSON.stringify(row.value)));
};

const everyWay = ['a refresh token', 'a session', 'a token signed with a stored key'];

test('after the rotation, an old key file and a newer backup lead nowhere', async () => {
  const oldKey = masterKeyOf(keyFile());
  await signIn();
  // Before the rotation each of the ways leads in, with nothing but the key file and a backup.
  expect(await attack([oldKey], [backUp()])).toEqual(everyWay);

  const { access_token: accessToken } = await signIn();
  expect(await statusesOfMe(accessToken)).toEqual([200, 200]);
  const before = backUp();
  await operate(folder, 'rotateVault', []);
  // At once, in every process.
  expect(await statusesOfMe(accessToken)).toEqual([401, 401]);

  turn = 1;
  const later = await signIn();
  expect(await statusesOfMe(later.access_token)).toEqual([200, 200]);
  const created = await admin.post('/clients', { email: 'new@example.com', name: 'New' }, { 'idempotency-key': 'new' });
  expect(created.status).toBe(201);
  const after = backUp();
  expect(await attack([oldKey], [after])).toEqual([]);
  expect(await attack([oldKey], [before, after])).toEqual([]);
  expect(readableSince(keysFrom([oldKey], [before, after]), before, after)).toEqual([]);
  // The new key opens all of it.
  const opened = readableSince(keysFrom([masterKeyOf(keyFile())], [after]), before, after);
  expect(opened.map(({ collection }) => collection)).toEqual(expect.arrayContaining(['idempotency', 'signIn.key']));
  expect(await statusesOfMe(later.access_token)).toEqual([200, 200]);
  expect((await admin.get(`/clients/${contents.clientId}`)).body).toMatchObject({ email: 'vera.viewer@example.com' });
});

test('when the vault was copied too, what was copied ends with the rotation and with `sessions:end`', async () => {
  const oldKey = masterKeyOf(keyFile());
  await signIn();
  const copy = backUp();
  await operate(folder, 'rotateVault', []);
  const fresh = await signIn();
  const after = backUp();
  expect(await attack([oldKey], [copy, after])).toEqual(['a refresh token']);
  expect(readableSince(keysFrom([oldKey], [copy, after]), copy, after)).toEqual([]);

  await signIn();
  const last = backUp();
  expect(await operate(folder, 'endSessions', [])).toMatch(/^Everybody is signed out/);
  expect(await statusesOfMe(fresh.access_token)).toEqual([401, 401]);
  // Even with the newest key: what was copied before is worth nothing.
  expect(await attack([masterKeyOf(keyFile())], [last])).toEqual([]);
  expect((await admin.get('/me')).status).toBe(200);
  expect(await statusesOfMe((await signIn()).access_token)).toEqual([200, 200]);
});
