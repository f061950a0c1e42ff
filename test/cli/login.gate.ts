import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import type { OutboxMail } from '../../src/integrations/email/port.js';
import { hasChromium, startChromium } from '../support/chromium.js';
import { makeHome, openTerminal, runCli, startCli, type Home } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startOpenIdProvider, type OpenIdProvider } from '../support/openIdProvider.js';
import { createApi, mintToken, startServer, type Api } from '../support/server.js';
import { codeIn } from '../support/signIn.js';
import { temporaryFolder } from '../support/temporary.js';

jest.setTimeout(120_000);

let dataDir: string;
let address: string;
let admin: Api;
let chromium: Browser;

beforeAll(async () => {
  dataDir = temporaryFolder();
  ({ address } = await startServer(dataDir));
  admin = createApi(address, await mintToken(dataDir));
  if (hasChromium) chromium = await startChromium();
}, 240_000);

afterAll(async () => {
  if (hasChromium) await chromium.close();
});

const noKeyring = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' };

const profileFile = ({ folder }: Home): string => join(folder, '.config/doorstep/profiles/default.json');
const profileOf = (home: Home): Record<string, string> =>
  JSON.parse(readFileSync(profileFile(home), 'utf8')) as Record<string, string>;

const openPage = async (): Promise<Page> => {
  const context = await chromium.newContext();
  // Nothing beyond this machine is asked for, such as the fonts of oidc-provider's pages.
  await context.route(/^https:/, (route) => route.abort());
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  return page;
};

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();

const mailTo = (email: string): Promise<OutboxMail> =>
  eventually('a mail with a code', async () => ((await admin.get(`/outbox?to=${email}`)).body as OutboxMail[])[0]);

/** On the pages of the service. */
const signIn = async (page: Page, email: string): Promise<void> => {
  await page.getByLabel('E-mail address').fill(email);
  await press(page, 'Send me the mail');
  await page.getByLabel('Code').waitFor();
  await page.getByLabel('Code').fill(codeIn(await mailTo(email)));
  await press(page, 'Sign in');
};

/** On the pages of the other issuer, which takes any password. */
const signInElsewhere = async (page: Page, name: string): Promise<void> => {
  await page.getByPlaceholder('Enter any login').fill(name);
  await page.getByPlaceholder('and password').fill('x');
  await press(page, 'Sign-in');
  await press(page, 'Continue');
};

/** Runs `doorstep login` in a terminal, with this browser, until it has opened it. */
const loginAtTerminal = async (home: Home, args: string) => {
  const opened = join(home.folder, 'opened');
  const program = join(home.folder, 'browser');
  rmSync(opened, { force: true });
  writeFileSync(program, `#!/bin/sh\nprintf %s "$1" > "${opened}.part" && mv "${opened}.part" "${opened}"\n`, { mode: 0o755 });
  const terminal = await openTerminal({ ...home, environment: { ...home.environment, BROWSER: program } }, { columns: 120 });
  await terminal.enter(`doorstep login ${args}`);
  const url = await eventually('a browser', () => (existsSync(opened) ? readFileSync(opened, 'utf8') : undefined), 20_000);
  const page = await openPage();
  await page.goto(url);
  return { terminal, page };
};

const addressToOpen = (stream: Readable): Promise<string> => {
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return eventually('an address to open', () => /open (http\S+user_code=\S+)/.exec(text)?.[1], 20_000);
};

(hasChromium ? describe : describe.skip)('in Chromium', () => {
  test('a person signs in at a terminal', async () => {
    const home = makeHome(noKeyring);
    const { terminal, page } = await loginAtTerminal(home, `--url ${address}`);
    await signIn(page, 'grace@example.com');
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
    expect(new URL(page.url()).hostname).toBe('127.0.0.1');
    await terminal.shows('as grace@example.com (client)');
    expect(profileOf(home)).toMatchObject({ email: 'grace@example.com', role: 'client', minted: true });
  });

  test('a code connects a program without a terminal', async () => {
    const home = makeHome(noKeyring);
    const child = startCli(home, ['login', '--url', address, '--device']);
    const ended = once(child, 'close');
    const page = await openPage();
    await page.goto(await addressToOpen(child.stderr));
    await press(page, 'Continue');
    await press(page, 'Codes match, connect');
    await signIn(page, 'heidi@example.com');
    await page.getByRole('heading', { name: 'Your device is connected' }).waitFor();
    expect(await ended).toStrictEqual([0, null]);
    expect(profileOf(home)).toMatchObject({ email: 'heidi@example.com' });
  });

  describe('with an issuer outside the service', () => {
    let issuer: OpenIdProvider;
    let service: string;

    beforeAll(async () => {
      issuer = await startOpenIdProvider('acme-doorstep');
      const environment = { AUTH_ISSUER: issuer.url, AUTH_AUDIENCE: 'acme-doorstep' };
      ({ address: service } = await startServer(temporaryFolder(), environment));
    });

    afterAll(() => issuer.stop());

    test('people sign in there, by the browser, and by a code with the same client', async () => {
      const home = makeHome(noKeyring);
      const { terminal, page } = await loginAtTerminal(home, `--url ${service} --client-id acme-cli`);
      await signInElsewhere(page, 'ada');
      await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
      await terminal.shows('as ada@acme.example (admin)');
      const { token: first = '' } = profileOf(home);

      const child = startCli(home, ['login', '--device']);
      const ended = once(child, 'close');
      const other = await openPage();
      await other.goto(await addressToOpen(child.stderr));
      await press(other, 'Continue');
      await signInElsewhere(other, 'bob');
      await other.getByText('Sign-in Success').first().waitFor();
      expect(await ended).toStrictEqual([0, null]);
      expect(profileOf(home)).toMatchObject({ email: 'bob@acme.example', clientId: 'acme-cli' });
      expect((await createApi(service, first).get('/me')).status).toBe(401);
      const out = await runCli(home, ['logout']);
      expect(out.code).toBe(0);
    });

    test('an unknown client is refused in its words', async () => {
      const { code, stderr } = await runCli(makeHome(noKeyring), ['login', '--url', service, '--device']);
      expect([code, stderr]).toStrictEqual([1, expect.stringMatching(/^doorstep: The issuer refuses: .*client/)]);
    });
  });
});

const hasGnomeKeyring = ((): boolean => {
  try {
    execFileSync('gnome-keyring-daemon', ['--version'], { stdio: 'ignore' });
    execFileSync('dbus-daemon', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return process.env.CI === 'true';
  }
})();

(hasGnomeKeyring ? describe : describe.skip)('a keyring', () => {
  test('keeps the token, which is then in no file, and lets go of it', async () => {
    const home = makeHome();
    const runtime = join(home.folder, 'run');
    mkdirSync(runtime, { mode: 0o700 });
    const daemons = { ...home.environment, XDG_RUNTIME_DIR: runtime };
    const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address'], {
      env: daemons,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [line] = (await once(bus.stdout, 'data')) as [Buffer];
    const environment = { ...daemons, DBUS_SESSION_BUS_ADDRESS: line.toString().trim() };
    const keyring = spawn('gnome-keyring-daemon', ['--foreground', '--unlock', '--components=secrets'], {
      env: environment,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    keyring.stdin.end('a password');
    try {
      // Asking for it any earlier would have the bus start one of its own.
      await once(
        spawn('gdbus', ['wait', '--session', '--timeout', '20', 'org.freedesktop.secrets'], { env: environment }),
        'exit',
      );
      const mine: Home = { ...home, environment };
      const token = await mintToken(dataDir);
      const login = await runCli(mine, ['login', '--with-token', '--url', address], token);
      expect(login.stderr).toContain('It is kept in the keyring.');
      expect(login.code).toBe(0);
      expect(readFileSync(profileFile(mine), 'utf8')).not.toContain(token);
      const who = await runCli(mine, ['whoami', '--json']);
      expect(JSON.parse(who.stdout)).toMatchObject({ token: { storedIn: 'keyring', prefix: token.slice(0, 12) } });
      // Without the keyring it is not to be had, and the command says why.
      const without = await runCli({ ...home, environment: { ...environment, ...noKeyring } }, ['whoami']);
      expect([without.code, without.stderr]).toStrictEqual([1, expect.stringMatching(/^doorstep: The keyring refuses: /)]);
      expect((await runCli(mine, ['logout'])).code).toBe(0);
      expect((await createApi(address, token).get('/me')).status).toBe(401);
      const found = execFileSync(
        'gdbus',
        [
          'call',
          '--session',
          '--dest',
          'org.freedesktop.secrets',
          '--object-path',
          '/org/freedesktop/secrets/aliases/default',
          '--method',
          'org.freedesktop.DBus.Properties.Get',
          'org.freedesktop.Secret.Collection',
          'Items',
        ],
        { env: environment },
      ).toString();
      expect(found).not.toContain('/org/freedesktop/secrets/collection');
    } finally {
      keyring.kill();
      bus.kill();
    }
  });
});

test('a keyring that never answers does not stop a sign-in: the token is kept in a file', async () => {
  const socket = join(temporaryFolder(), 'bus');
  const silent = createServer(() => undefined).listen(socket);
  const home = makeHome({ DBUS_SESSION_BUS_ADDRESS: `unix:path=${socket}` });
  const { code, stderr } = await runCli(home, ['login', '--with-token', '--url', address], await mintToken(dataDir));
  silent.close();
  expect([code, stderr]).toStrictEqual([0, expect.stringContaining(`It is kept in ${profileFile(home)}.`)]);
});
