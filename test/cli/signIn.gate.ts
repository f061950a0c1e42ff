import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { OutboxMail } from '../../src/integrations/email/port.js';
import { makeHome, openTerminal, runCli, startCli, type Environment, type Home, type Ran } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { createApi, mintToken, operate, startServer, type Api } from '../support/server.js';
import { codeIn, createBrowser, type Browser, type Page } from '../support/signIn.js';
import { temporaryFolder } from '../support/temporary.js';

// A sign-in by a code asks for it every five seconds.
jest.setTimeout(60_000);

let dataDir: string;
let address: string;
let admin: Api;

beforeAll(async () => {
  dataDir = temporaryFolder();
  ({ address } = await startServer(dataDir));
  admin = createApi(address, await mintToken(dataDir));
}, 240_000);

/** All that programs have printed here: no token may be in it. */
const printed: string[] = [];

afterEach(() => {
  expect(printed.join('\n')).not.toMatch(/svc_pat_\w{5}|eyJ\w+\.\w+/);
});

const run = async (home: Home, args: readonly string[], input = ''): Promise<Ran> => {
  const ran = await runCli(home, args, input);
  printed.push(ran.stdout, ran.stderr);
  return ran;
};

/** Without a keyring: whatever this machine has. */
const makePlainHome = (extra: Environment = {}): Home => makeHome({ DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere', ...extra });

const profileFile = ({ folder }: Home, name = 'default'): string => join(folder, '.config/doorstep/profiles', `${name}.json`);
const profileOf = (home: Home, name?: string): Record<string, string> =>
  JSON.parse(readFileSync(profileFile(home, name), 'utf8')) as Record<string, string>;
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const statusOf = async (token: string | undefined): Promise<number> => (await createApi(address, token ?? '').get('/me')).status;

const someToken = (role: 'admin' | 'client' = 'admin', subject = 'ops@example.com'): Promise<string> =>
  operate(dataDir, 'mintToken', ['--role', role, '--subject', subject, '--force']);

const whoAmI = async (home: Home, ...args: string[]): Promise<Record<string, unknown>> =>
  JSON.parse((await run(home, ['whoami', '--json', ...args])).stdout) as Record<string, unknown>;

const mailTo = (email: string): Promise<OutboxMail> =>
  eventually('a mail with a code', async () => ((await admin.get(`/outbox?to=${email}`)).body as OutboxMail[])[0]);

const hidden = ({ text }: Page, name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';

/** Types in the address, and the code that was mailed. */
const signIn = async (browser: Browser, page: Page, email: string): Promise<Page> => {
  const code = await browser.post(page.url, { email });
  return browser.post(code.url, { code: codeIn(await mailTo(email)) });
};

const newBrowser = (): Browser => createBrowser({ baseUrl: address, via: () => address });

/** Resolves with the text so far, once it holds this. */
const shows = (stream: Readable, what: RegExp): Promise<RegExpExecArray> => {
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    printed.push(chunk.toString());
  });
  return eventually(String(what), () => what.exec(text) ?? undefined, 20_000);
};

/** Signs in by a code, from a program in pipes. */
const signInByCode = async (home: Home, email: string, ...args: string[]): Promise<number | null> => {
  const child = startCli(home, ['login', '--url', address, ...args]);
  const ended = once(child, 'close') as Promise<[number | null]>;
  const [, page = '', code = ''] = await shows(child.stderr, /Open (http\S+) in a browser.* type in the code (\S+)\n/);
  const browser = newBrowser();
  const form = await browser.get(page);
  const confirmation = await browser.post(form.url, { xsrf: hidden(form, 'xsrf'), user_code: code });
  const next = await browser.post(confirmation.url, { xsrf: hidden(confirmation, 'xsrf'), user_code: code, confirm: 'yes' });
  expect((await signIn(browser, next, email)).text).toContain('Your device is connected');
  return (await ended)[0];
};

describe('login --with-token', () => {
  test('keeps the token in a file that only its owner may read, and shows whose it is', async () => {
    const home = makePlainHome();
    const token = await someToken();
    const { code, stdout, stderr } = await run(home, ['login', '--with-token', '--url', `${address}/`], `${token}\n`);
    expect([code, stdout]).toStrictEqual([0, '']);
    expect(stderr).toContain(`Signed in to ${address} as ops@example.com (admin). Profile: default.`);
    const file = profileFile(home);
    expect([modeOf(file), modeOf(join(file, '..')), modeOf(join(file, '../..'))]).toStrictEqual(['600', '700', '700']);
    expect(profileOf(home)).toMatchObject({ url: address, subject: 'ops@example.com', storedIn: 'file', token });

    // A folder that was unpacked or copied with other modes.
    chmodSync(file, 0o644);
    expect(await whoAmI(home)).toStrictEqual({
      subject: 'ops@example.com',
      email: 'ops@example.com',
      role: 'admin',
      url: address,
      profile: 'default',
      token: {
        id: expect.any(String),
        name: 'minted on the server',
        prefix: token.slice(0, 12),
        expiresAt: null,
        storedIn: 'file',
      },
    });
    expect(modeOf(file)).toBe('600');
    expect((await run(home, ['websites', 'list'])).code).toBe(0);
  });

  test.each([
    ['nothing', '', 'There is no token on standard input.'],
    ['more than a token', 'one two', 'Standard input holds more than a token.'],
    ['a token that is none', 'svc_pat_nonsense', 'Invalid token'],
  ])('%s is refused, and nothing is kept', async (_what, input, words) => {
    const home = makePlainHome();
    const { code, stderr } = await run(home, ['login', '--with-token', '--url', address], input);
    expect([code, stderr]).toStrictEqual([1, expect.stringContaining(words)]);
    expect(existsSync(profileFile(home))).toBe(false);
  });
});

describe('profiles', () => {
  test('are listed with where the token is, and used by name; none is replaced by another service', async () => {
    const home = makePlainHome();
    const [mine, theirs] = [await someToken(), await someToken('client', 'ann@example.com')];
    await run(home, ['login', '--with-token', '--url', address], mine);
    await run(home, ['login', '--with-token', '--url', address, '--profile', 'ann'], theirs);
    const row = (mark: string, name: string, who: string, role: string): string =>
      [mark, name, address, who, role, 'never', profileFile(home, name)].join('\t');
    const [ops, ann] = [row('', 'default', 'ops@example.com', 'admin'), row('*', 'ann', 'ann@example.com', 'client')];
    expect((await run(home, ['profiles'])).stdout).toBe(`${ann}\n${ops}\n`);
    expect((await whoAmI(home)).email).toBe('ann@example.com');
    expect((await whoAmI(home, '--profile', 'default')).email).toBe('ops@example.com');
    expect((await run(home, ['profiles', 'use', 'default'])).code).toBe(0);
    expect((await whoAmI(home)).email).toBe('ops@example.com');
    const named = { ...home, environment: { ...home.environment, DOORSTEP_PROFILE: 'ann' } };
    expect((await whoAmI(named)).email).toBe('ann@example.com');
    // Tokens of both are valid, under two names; the environment wins over them, and an option over it.
    const set = { ...home, environment: { ...named.environment, DOORSTEP_TOKEN: theirs, DOORSTEP_URL: address } };
    expect(await whoAmI(set)).toMatchObject({ email: 'ann@example.com', profile: null, token: { storedIn: 'environment' } });
    expect((await whoAmI(set, '--profile', 'default')).email).toBe('ops@example.com');

    const other = await startServer(temporaryFolder());
    // A profile's token is not sent to another service.
    const stranger = await run(home, ['whoami', '--url', other.address]);
    expect(stranger).toMatchObject({ code: 1, stderr: expect.stringContaining(`You are not signed in to ${other.address}.`) });
    const elsewhere = await run(home, ['whoami', '--profile', 'ann', '--url', other.address]);
    expect(elsewhere.stderr).toContain(`Profile ann is signed in to ${address}`);
    expect((await run(home, ['profiles', 'use', 'nobody'])).stderr).toContain(
      'There is no profile nobody. Profiles: ann, default.',
    );
    expect((await run(home, ['login', '--profile', '../x', '--with-token', '--url', address], mine)).stderr).toContain(
      'cannot be the name of a profile',
    );
  });
});

test('a token of the environment goes to DOORSTEP_URL, else to the address of the profile', async () => {
  const home = makePlainHome();
  const other = await startServer(temporaryFolder());
  await run(home, ['login', '--with-token', '--url', address, '--profile', 'first'], await someToken());
  const at = (environment: Environment): Home => ({ ...home, environment: { ...home.environment, ...environment } });
  const token = await someToken('client', 'ann@example.com');
  const ann = { email: 'ann@example.com', profile: null, token: { storedIn: 'environment' } };

  expect(await whoAmI(at({ DOORSTEP_TOKEN: token }))).toMatchObject({ ...ann, url: address });
  const away = await run(at({ DOORSTEP_TOKEN: token, DOORSTEP_URL: other.address }), ['whoami']);
  expect(away).toMatchObject({ code: 1, stderr: expect.stringMatching(/^doorstep: Invalid token\n/) });

  writeFileSync(profileFile(home, 'second'), JSON.stringify({ ...profileOf(home, 'first'), url: other.address }));
  expect(await whoAmI(at({ DOORSTEP_TOKEN: token, DOORSTEP_PROFILE: 'first' }))).toMatchObject({ ...ann, url: address });
  const second = await run(at({ DOORSTEP_TOKEN: token, DOORSTEP_PROFILE: 'second' }), ['whoami']);
  expect(second).toMatchObject({ code: 1, stderr: expect.stringMatching(/^doorstep: Invalid token\n/) });
  const unknown = await run(at({ DOORSTEP_TOKEN: token, DOORSTEP_PROFILE: 'third' }), ['whoami']);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no profile third.') });
});

describe('without a terminal', () => {
  test.each<[string, string[], string]>([
    ['an address has to be given', ['login'], 'Which service? Say it with --url'],
    ['an address has to be one', ['login', '--url', 'nowhere'], '"nowhere" is not the address of a service'],
    ['an expiry has to be one', ['login', '--expires', 'soon'], '"soon" is no expiry'],
    ['an expiry has to come', ['login', '--expires', '2020-01-01'], '"2020-01-01" is in the past'],
    ['somebody has to be signed in', ['whoami'], 'You are not signed in. Run "doorstep login"'],
    ['somebody has to be signed in to sign out', ['logout'], 'You are not signed in.'],
  ])('%s', async (_what, args, words) => {
    const { code, stdout, stderr } = await run(makePlainHome(), args);
    expect([code, stdout, stderr]).toStrictEqual([1, '', expect.stringContaining(words)]);
  });

  test('a service that is none, or not there, is named', async () => {
    const home = makePlainHome();
    const below = await run(home, ['login', '--url', `${address}/app`]);
    expect(below.stderr).toMatch(/There is no Doorstep at|calls itself/);
    const nobody = await run(home, ['login', '--url', 'http://127.0.0.1:9']);
    expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('http://127.0.0.1:9 cannot be reached') });
  });
});

test('a code on another device signs in; signing in again revokes the former token, and logout the last', async () => {
  const home = makePlainHome();
  expect(await signInByCode(home, 'dora@example.com')).toBe(0);
  const { token: first, expiresAt = '' } = profileOf(home);
  expect((Date.parse(expiresAt) - Date.now()) / 86_400_000).toBeCloseTo(90, 1);
  expect(await whoAmI(home)).toMatchObject({
    email: 'dora@example.com',
    role: 'client',
    token: { name: `doorstep CLI on ${hostname()}`, expiresAt },
  });

  expect(await signInByCode(home, 'dora@example.com', '--name', 'my laptop', '--expires', '2w')).toBe(0);
  const { token: second } = profileOf(home);
  expect([await statusOf(first), await statusOf(second)]).toStrictEqual([401, 200]);
  expect(await whoAmI(home)).toMatchObject({ token: { name: 'my laptop' } });

  const out = await run(home, ['logout']);
  expect(out).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining(`Signed out of ${address}`) });
  expect([await statusOf(second), existsSync(profileFile(home))]).toStrictEqual([401, false]);
});

test('a token that cannot be kept is revoked again', async () => {
  const home = makePlainHome();
  // Where the profile in use is written.
  mkdirSync(join(home.folder, '.config/doorstep/config.json'), { recursive: true });
  expect(await signInByCode(home, 'fred@example.com')).toBe(1);
  expect(printed.join('')).toMatch(/The token svc_pat_\w{4}… could not be kept, so it was revoked again\.\ndoorstep: EISDIR/);
  const { body } = await admin.get('/audit?actor=fred@example.com&limit=1');
  expect(body).toMatchObject([{ type: 'APIKeyRevoked' }]);
});

test('a code that is refused signs nobody in', async () => {
  const home = makePlainHome();
  const child = startCli(home, ['login', '--url', address, '--device']);
  const ended = once(child, 'close') as Promise<[number | null]>;
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [, page = '', code = ''] = await shows(child.stderr, /Open (http\S+) in a browser.* type in the code (\S+)\n/);
  const browser = newBrowser();
  const form = await browser.get(page);
  const confirmation = await browser.post(form.url, { xsrf: hidden(form, 'xsrf'), user_code: code });
  await browser.post(confirmation.url, { xsrf: hidden(confirmation, 'xsrf'), user_code: code, abort: 'yes' });
  expect((await ended)[0]).toBe(1);
  expect(said).toContain('The sign-in was refused in the browser. Nobody is signed in.');
  expect(existsSync(profileFile(home))).toBe(false);
});

describe('logout', () => {
  test('of a service that is gone forgets nothing, but with --force', async () => {
    const folder = temporaryFolder();
    const server = await startServer(folder);
    const home = makePlainHome();
    await run(home, ['login', '--with-token', '--url', server.address], await mintToken(folder));
    await server.kill('SIGTERM');
    const refused = await run(home, ['logout']);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('so you are still signed in') });
    expect(existsSync(profileFile(home))).toBe(true);
    const forced = await run(home, ['logout', '--force']);
    expect(forced).toMatchObject({ code: 0, stderr: expect.stringContaining('is still valid') });
    expect(existsSync(profileFile(home))).toBe(false);
  });

  test('with --keep-token leaves it valid, and of a token that was revoked only forgets it', async () => {
    const home = makePlainHome();
    const token = await someToken('admin', 'kept@example.com');
    await run(home, ['login', '--with-token', '--url', address], token);
    expect((await run(home, ['logout', '--keep-token'])).code).toBe(0);
    expect(await statusOf(token)).toBe(200);
    await run(home, ['login', '--with-token', '--url', address], token);
    await operate(dataDir, 'mintToken', ['--revoke', '--subject', 'kept@example.com']);
    expect((await run(home, ['whoami'])).stderr).toContain('Invalid token');
    expect((await run(home, ['logout'])).code).toBe(0);
    expect(existsSync(profileFile(home))).toBe(false);
  });
});

test('at a terminal the browser signs in, on a loopback port', async () => {
  const home = makePlainHome();
  // Stands in for a browser: the system starts it with the address, and the test goes there.
  const opened = join(home.folder, 'opened');
  const browserProgram = join(home.folder, 'browser');
  writeFileSync(browserProgram, `#!/bin/sh\nprintf %s "$1" > "${opened}.part" && mv "${opened}.part" "${opened}"\n`, {
    mode: 0o755,
  });
  const terminal = await openTerminal(
    { ...home, environment: { ...home.environment, BROWSER: browserProgram } },
    { columns: 120 },
  );
  await terminal.enter('doorstep login');
  await terminal.shows('Address of the service [http://127.0.0.1:3000]:');
  await terminal.enter(address);
  await terminal.shows('Sign in in your browser.');
  const url = await eventually('a browser', () => (existsSync(opened) ? readFileSync(opened, 'utf8') : undefined));
  const callback = new URL(new URL(url).searchParams.get('redirect_uri') ?? '');
  expect(callback.hostname).toBe('127.0.0.1');
  // Another page cannot end the sign-in.
  const forged = await fetch(`${callback.href}?code=x&state=y`);
  expect(forged.status).toBe(404);
  const browser = newBrowser();
  const end = await signIn(browser, await browser.get(url), 'admin@doorstep.local');
  const answer = await fetch(end.url);
  expect([answer.status, await answer.text()]).toStrictEqual([200, expect.stringContaining('You are signed in')]);
  printed.push(await terminal.shows('as admin@doorstep.local (admin)'));
  await terminal.enter('clear; doorstep whoami; echo ended $?');
  const screen = await terminal.shows('ended 0');
  printed.push(screen.replace(/svc_pat_\w{4}…/, ''));
  expect(screen).toMatch(/address +admin@doorstep\.local/);
  expect(screen).toContain(`doorstep CLI on ${hostname()}`.slice(0, 20));

  // Ctrl-C ends a sign-in that nobody goes on with.
  await terminal.enter(`clear; doorstep login --profile other --url ${address}; echo ended $?`);
  await terminal.shows('Sign in in your browser.');
  await terminal.press('C-c');
  await terminal.shows('ended 130');
});
