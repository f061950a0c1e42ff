import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startDoorstep, type Doorstep } from '../../src/compose.js';
import { createLogger } from '../../src/platform/logger.js';
import { loadSettings } from '../../src/platform/settings/settings.js';
import { commitTo } from '../contracts/hostingSites.js';
import { hasChromium, startChromium } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { createApi, mintToken, type Api } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';
import { repositoryIn } from '../support/folders.js';

/**
 * A client's website is not trusted: in a browser in which somebody is signed in to the portal, its
 * script tries everything to read what is theirs.
 */
const withBrowser = hasChromium ? describe : describe.skip;

// A browser is slow on a busy machine.
jest.setTimeout(60_000);

/**
 * Tries to read the portal at `base`, as text for a page. Each attempt ends in `read: …`, `nothing`
 * or `refused: …`.
 */
const attempts = `async (base) => {
  const found = {};
  const attempt = async (name, work) => {
    try {
      const value = await work();
      found[name] = value === undefined || value === null || value === '' ? 'nothing' : 'read: ' + String(value).slice(0, 60);
    } catch (error) {
      found[name] = 'refused: ' + (error?.name ?? 'an error');
    }
  };
  const read = (path, options) => fetch(base + path, options).then((answer) => answer.text());
  const loaded = (kind, address) => new Promise((resolve, reject) => {
    const element = document.createElement(kind);
    element.onload = () => resolve(element);
    element.onerror = () => reject(new Error('not loaded'));
    element.src = address;
    document.body.append(element);
  });
  await attempt('localStorage', () => localStorage.getItem('portal'));
  await attempt('sessionStorage', () => sessionStorage.getItem('portal'));
  await attempt('databases', async () => (await indexedDB.databases()).map(({ name }) => name).join());
  await attempt('cookies', () => document.cookie);
  await attempt('api', () => read('/healthz'));
  await attempt('api with cookies', () => read('/me', { credentials: 'include' }));
  await attempt('api with a token', () => read('/v1/me', { headers: { authorization: 'Bearer guess' } }));
  await attempt('sign-in', () => read('/oidc/sign-out', { credentials: 'include' }));
  await attempt('opaque answer', () => read('/healthz', { mode: 'no-cors', credentials: 'include' }));
  await attempt('api as a script', async () => { await loaded('script', base + '/openapi.json'); return 'loaded'; });
  await attempt('frame', async () => (await loaded('iframe', base + '/app/')).contentDocument.title);
  await attempt('frame of the sign-in', async () => (await loaded('iframe', base + '/oidc/sign-out')).contentDocument.title);
  await attempt('opener', () => window.opener?.location.href);
  return found;
}`;

const hostilePage = (base: string): string => `<!doctype html>
<html lang="en">
  <head>
    <title>Hostile</title>
    <link rel="stylesheet" href="style.css">
    <script src="plain.js"></script>
    <script type="module" src="module.js"></script>
  </head>
  <body>
    <img id="picture" src="picture.svg" alt="">
    <form action="sent.html"><input name="word" value="hello"><button>Send</button></form>
    <script>(${attempts})(${JSON.stringify(base)}).then((found) => { window.found = found; });</script>
  </body>
</html>
`;

/** A font that is there anyway. */
const font = (): Buffer => {
  const folder = join(dirname(createRequire(import.meta.url).resolve('playwright-core/package.json')), 'lib/vite/traceViewer');
  const name = readdirSync(folder).find((file) => file.endsWith('.ttf'));
  if (name === undefined) throw new Error(`there is no font in ${folder}`);
  return readFileSync(join(folder, name));
};

const dataDir = temporaryFolder();
let doorstep: Doorstep;
let api: Api;
let base: string;
let chromium: Browser;
/** Somebody's browser, signed in to the portal. */
let context: BrowserContext;
/** A page of the portal's origin. */
let portal: Page;
/** Another origin. */
const foreign = createServer((_request, response) =>
  response.setHeader('content-type', 'text/html').end('<!doctype html><body>'),
);

const makeSite = async (slug: string, templateId: string): Promise<string> => {
  const { id } = (await api.post('/websites', { name: 'Corner Bakery', slug, templateId, brandColor: '#b4532a' })).body as {
    id: string;
  };
  await eventually(`${slug} is active`, async () => {
    const { status } = (await api.get(`/websites/${id}`)).body as { status: string };
    return status === 'active' ? true : undefined;
  });
  return id;
};

const signIn = async (): Promise<void> => {
  const page = await context.newPage();
  const authorize = new URL(`${base}/oidc/authorize`);
  authorize.search = new URLSearchParams({
    client_id: 'doorstep-portal',
    response_type: 'code',
    scope: 'openid email',
    redirect_uri: `${base}/auth/callback`,
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  }).toString();
  await page.goto(authorize.href);
  await page.getByLabel('E-mail address').fill('ann@example.com');
  await page.keyboard.press('Enter');
  await page.getByLabel('Code').waitFor();
  const [mail] = (await api.get('/outbox?to=ann@example.com')).body as { text: string }[];
  await page.getByLabel('Code').fill(/\b\d{4} \d{4}\b/.exec(mail?.text ?? '')?.[0] ?? '');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/auth\/callback\?code=/);
  await page.close();
};

beforeAll(async () => {
  if (!hasChromium) return;
  const settings = loadSettings({ DATA_DIR: dataDir, PORT: '0' });
  doorstep = await startDoorstep(settings, createLogger({ level: 'silent' }));
  base = doorstep.baseUrl;
  api = createApi(base, await mintToken(dataDir));
  const [hostile] = await Promise.all([
    makeSite('hostile', 'landing'),
    makeSite('business', 'business'),
    makeSite('landing', 'landing'),
  ]);
  const cloneUrl = `file://${repositoryIn(dataDir, 'hostile')}`;
  commitTo(
    { id: 'hostile', name: 'hostile', defaultBranch: 'main', cloneUrl },
    {
      'hostile.html': hostilePage(base),
      'sent.html': '<!doctype html><title>Sent</title>',
      'style.css': '@font-face { font-family: own; src: url(font.ttf) } body { color: rgb(1, 2, 3); font-family: own }',
      'plain.js': 'window.plain = true;',
      'module.js': "window.data = await (await fetch('data.json')).json();",
      'data.json': '{"own": true}',
      'picture.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="3" height="3"/>',
      'font.ttf': font(),
    },
  );
  await api.post(`/websites/${hostile}/redeploy`);
  await eventually('the hostile page is served', async () =>
    (await fetch(`${base}/sites/hostile/hostile.html`)).status === 200 ? true : undefined,
  );
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
  chromium = await startChromium();
  context = await chromium.newContext();
  await signIn();
  portal = await context.newPage();
  await portal.goto(`${base}/app/`);
  await portal.evaluate(`(async () => {
    localStorage.setItem('portal', 'secret');
    sessionStorage.setItem('portal', 'secret');
    document.cookie = 'portal=secret; path=/';
    await new Promise((resolve) => { indexedDB.open('portal').onsuccess = resolve; });
  })()`);
}, 120_000);

afterAll(async () => {
  if (!hasChromium) return;
  await chromium.close();
  foreign.close();
  await doorstep.stop();
});

/** Opens a page; returns what the browser complains of as well. */
const visit = async (address: string): Promise<{ page: Page; problems: string[] }> => {
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? '';
    // The next page is opened while an icon is on its way.
    if (reason !== 'net::ERR_ABORTED') problems.push(`${request.url()}: ${reason}`);
  });
  await page.goto(address);
  return { page, problems };
};

const atHost = (slug: string): string => `http://${slug}.sites.localhost:${new URL(base).port}/`;
const places = [
  ['below /sites/', (slug: string) => `${base}/sites/${slug}/`],
  ['at its own host', atHost],
] as const;

withBrowser.each(places)('a website %s', (place, addressOf) => {
  test('reads nothing of the portal', async () => {
    const { page } = await visit(`${addressOf('hostile')}hostile.html`);
    const found = await eventually('the attempts', () => page.evaluate<Record<string, string> | undefined>('window.found'));
    expect(Object.keys(found).length).toBeGreaterThan(10);
    for (const [name, outcome] of Object.entries(found))
      expect([name, outcome]).toEqual([name, expect.stringMatching(/^(?:nothing|refused)/)]);
    const sent = await context.cookies(page.url());
    expect(sent.filter(({ name }) => name.includes('doorstep'))).toEqual([]);
    await page.close();
  });

  test('runs its scripts, and has its style, pictures, fonts, data and forms', async () => {
    const { page } = await visit(`${addressOf('hostile')}hostile.html`);
    await eventually('its data', () => page.evaluate<object | undefined>('window.data'));
    expect(await page.evaluate('[window.plain, window.data.own, getComputedStyle(document.body).color]')).toEqual([
      true,
      true,
      'rgb(1, 2, 3)',
    ]);
    expect(await page.evaluate('document.getElementById("picture").naturalWidth')).toBe(3);
    expect(await page.evaluate('document.fonts.load("12px own").then((fonts) => fonts.map(({ status }) => status))')).toEqual([
      'loaded',
    ]);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(/sent\.html\?word=hello$/);
    expect(await page.title()).toBe('Sent');
    await page.close();
  });

  test('has no hold on the page that opened it', async () => {
    const opened = context.waitForEvent('page');
    await portal.evaluate(`void window.open(${JSON.stringify(`${addressOf('hostile')}sent.html`)})`);
    const page = await opened;
    await page.waitForLoadState();
    expect([place, await page.evaluate('window.opener === null')]).toEqual([place, true]);
    await page.close();
  });

  test.each(['business', 'landing'])('looks as its template %s has it', async (template) => {
    const { page, problems } = await visit(addressOf(template));
    const looks = await page.evaluate<Record<string, unknown>>(`(() => {
      const heading = getComputedStyle(document.querySelector('h1'));
      const body = getComputedStyle(document.body);
      return { size: heading.fontSize, paper: body.backgroundColor, sheets: document.styleSheets.length };
    })()`);
    expect(looks).toMatchObject({ sheets: 2 });
    expect(looks).not.toMatchObject({ size: '32px' });
    expect(looks).not.toMatchObject({ paper: 'rgba(0, 0, 0, 0)' });
    expect(await page.evaluate('[...document.images].every((image) => image.complete && image.naturalWidth > 0)')).toBe(true);
    const links = await page.evaluate<string[]>('[...document.querySelectorAll("main a, nav a")].map((link) => link.href)');
    const inside = links.filter((link) => link.startsWith(addressOf(template)) && !link.includes('#'));
    for (const link of inside.slice(0, 2)) expect((await page.goto(link))?.status()).toBe(200);
    // Its 404 page is served at any depth.
    expect((await page.goto(`${addressOf(template)}no/such/page`))?.status()).toBe(404);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(looks['paper']);
    expect(problems.filter((problem) => !problem.includes('404'))).toEqual([]);
    await page.close();
  });

  test('lends its files to no page of another origin', async () => {
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${String((foreign.address() as AddressInfo).port)}/`);
    const load = (kind: string, address: string): Promise<unknown> =>
      page.evaluate(`new Promise((resolve) => {
        const element = document.createElement('script');
        element.onload = () => resolve('loaded');
        element.onerror = () => resolve('refused');
        element.type = ${JSON.stringify(kind)};
        element.src = ${JSON.stringify(address)};
        document.body.append(element);
      })`);
    for (const kind of ['', 'module']) {
      expect(await load(kind, `${addressOf('hostile')}plain.js`)).toBe('refused');
      for (const path of ['/openapi.json', '/healthz', '/app/assets/main.js'])
        expect(await load(kind, base + path)).toBe('refused');
    }
    await page.close();
  });
});

withBrowser('the page of the portal', () => {
  test('reads all that the websites try to read', async () => {
    const found = await portal.evaluate<Record<string, string>>(`(${attempts})(${JSON.stringify(base)})`);
    for (const name of ['localStorage', 'sessionStorage', 'databases', 'cookies', 'api', 'api with cookies', 'sign-in']) {
      expect([name, found[name]]).toEqual([name, expect.stringMatching(/^read: /)]);
    }
    // Neither it nor the sign-in is framed, by nobody.
    for (const name of ['frame', 'frame of the sign-in']) expect(found[name]).toMatch(/^refused/);
  });

  test('runs nothing of a website', async () => {
    const script = `${base}/sites/hostile/plain.js`;
    // The page takes no address of a script at all (trusted types).
    const run = portal.evaluate(`new Promise((resolve, reject) => {
      const element = document.createElement('script');
      element.onload = () => resolve('loaded');
      element.onerror = () => reject(new Error('refused'));
      element.src = ${JSON.stringify(script)};
      document.body.append(element);
    })`);
    await expect(run).rejects.toThrow(/TrustedScriptURL|refused/);
    const worker = portal.evaluate(
      `navigator.serviceWorker.register(${JSON.stringify(script)}).then(() => 'registered', ({ name }) => name)`,
    );
    expect(await worker).not.toBe('registered');
    expect(await portal.evaluate('window.plain')).toBeUndefined();
  });

  test('has its cookies for the sign-in alone', async () => {
    const cookies = (await context.cookies()).filter(({ name }) => name.startsWith('doorstep'));
    expect(cookies.map(({ name }) => name)).toContain('doorstep_session');
    for (const { name, path, httpOnly } of cookies) {
      expect([name, path, httpOnly]).toEqual([name, expect.stringMatching(/^\/oidc(?:\/|$)/), true]);
    }
  });
});
