/** The demo, opened in a browser: what pictures and tests of the whole portal are made from. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { Doorstep } from '@doorstep/sdk';
import { people } from '../demo/people.mjs';
import { distFolder } from '../tasks.mjs';
import { root } from '../processes.mjs';

/**
 * @typedef {import('./visits.mjs').Visit} Visit
 * @typedef {import('./visits.mjs').Visitor} Visitor
 * @typedef {import('playwright-core').BrowserContextOptions} ContextOptions
 */

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));

/** @type {Readonly<Record<Visitor, string>>} */
const addresses = {
  operator: people.operator.email,
  anna: people.anna.email,
  leila: people.leila.email,
  tomas: people.tomas.email,
  samir: people.samir.email,
  newcomer: 'newcomer@nowhere.example',
  stranger: 'stranger@nowhere.example',
};

/**
 * Opens the demo in a folder, and makes it there first when it is empty.
 * @param {string} folder
 */
export const openDemo = async (folder) => {
  const child = spawn(process.execPath, [join(root, 'scripts', 'demo.mjs'), '--dir', folder], {
    env: { PATH: process.env['PATH'], PORT: '0', LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    return await openOf(child, folder);
  } catch (error) {
    child.removeAllListeners('exit');
    child.kill();
    throw error;
  }
};

/**
 * @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, null>} child
 * @param {string} folder
 */
const openOf = async (child, folder) => {
  /** @type {string} */
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, found] = /^Doorstep is open at (http\S+)$/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', (code) => {
      reject(new Error(`the demo ended with ${String(code)}`));
    });
  });
  const token = await mintToken(folder);
  const admin = new Doorstep({ baseUrl: address, token });
  const ids = new Map(/** @type {[string, string][]} */ ([]));
  for (const archived of [true, false]) {
    for await (const { slug, id } of admin.websites.list({ archived })) ids.set(slug, id);
  }

  const clients = new Map(/** @type {[string, string][]} */ ([]));
  for await (const { email, id } of admin.clients.list()) clients.set(email, id);
  const browser = await chromium.launch({
    ...(executablePath !== undefined && { executablePath }),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });

  /** @param {string} email */
  const newestMail = async (email) => (await admin.outbox.list({ to: email, limit: 1 }))[0];

  /** Signs somebody in on the provider's pages, which the page stands at. @param {import('playwright-core').Page} page @param {string} email */
  const signIn = async (page, email) => {
    await page.locator('input[type=email]').fill(email);
    const before = (await newestMail(email))?.id;
    await page.locator('button[type=submit]').first().click();
    await page.locator('input[name=code]').waitFor();
    const mail = await newestMail(email);
    if (mail === undefined || mail.id === before) throw new Error(`no mail was sent to ${email}`);
    await page.locator('input[name=code]').fill(/\b\d{4} \d{4}\b/.exec(mail.text)?.[0] ?? '');
    await page.locator('button[type=submit]').first().click();
    await page.waitForURL((url) => url.pathname.startsWith('/app/'));
  };

  /** A window of somebody's, in which they are signed in. @param {Visitor | null} who @param {ContextOptions} options */
  const openWindow = async (who, options = {}) => {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    if (who !== null) {
      await page.goto(`${address}/app/`);
      await signIn(page, addresses[who]);
      await settled(page);
    }
    return page;
  };

  /** @param {Visit} visit */
  const pathOf = async ({ path }) => {
    const [place = '', kind, name = ''] = /\{(?:(\w+):)?([^}]+)\}/.exec(path) ?? [];
    const found = { client: () => clients.get(name), invitation: () => invitationOf(admin, name) };
    const id = kind === 'client' || kind === 'invitation' ? await found[kind]() : ids.get(name);
    return place === '' ? path : path.replace(place, id ?? 'missing');
  };

  return {
    address,
    admin,
    openWindow,
    /** Opens what a visit is to. @param {import('playwright-core').Page} page @param {Visit} visit */
    open: async (page, visit) => {
      await page.goto(`${address}/app${await pathOf(visit)}`);
      await settled(page);
    },
    close: async () => {
      await browser.close();
      child.removeAllListeners('exit');
      child.kill();
    },
  };
};

/** The id of the newest invitation that was mailed to somebody. @param {Doorstep} admin @param {string} email */
const invitationOf = async (admin, email) => {
  for await (const { links } of admin.outbox.list({ to: email })) {
    const link = links.find((one) => one.includes('/app/invitations/'));
    if (link !== undefined) return link.split('/').at(-1);
  }
  return undefined;
};

/**
 * Resolves when the page shows what it is there for: it has its heading, and nothing stands in for
 * what is still to come.
 * @param {import('playwright-core').Page} page
 */
const settled = (page) => page.locator(':root:has(h1):not(:has([data-pending]))').waitFor({ state: 'attached' });

/** @param {string} folder @returns {Promise<string>} */
const mintToken = (folder) =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [join(distFolder, 'operations', 'mintToken.js'), '--role', 'admin', '--subject', 'pictures'],
      {
        cwd: folder,
        env: { PATH: process.env['PATH'], DATA_DIR: folder },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let written = '';
    child.stdout.on('data', (chunk) => (written += String(chunk)));
    child.once('close', (code) => {
      if (code === 0) resolve(written.trim());
      else reject(new Error('no token could be minted'));
    });
  });
