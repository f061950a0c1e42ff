import { AxeBuilder } from '@axe-core/playwright';
import { afterAll, expect } from '@jest/globals';
import { Doorstep, type OutboxMail } from '@doorstep/sdk';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { startChromium } from './chromium.js';
import { eventually } from './eventually.js';
import { codeIn } from './signIn.js';
import { mintToken, startServer, type ServerProcess } from './server.js';
import { temporaryFolder } from './temporary.js';

/** The built service with its portal, and a browser to open it in. */
export interface PortalSeat {
  readonly server: ServerProcess;
  readonly folder: string;
  readonly address: string;
  /** The SDK as an admin by a token. */
  readonly admin: Doorstep;
  /** A new window in a browser of its own. */
  readonly open: (options?: BrowserContextOptions) => Promise<PortalWindow>;
  /** The newest mail to an address. */
  readonly mailTo: (email: string) => Promise<OutboxMail>;
}

export interface PortalWindow {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the console complained about, violations of the policy among it. */
  readonly complaints: readonly string[];
  /** Opens a path below `/app`; the first time, signs in on the way. */
  readonly visit: (path: string, email: string) => Promise<void>;
  /** Fills the pages of the sign-in, which the window is led to. */
  readonly signInAs: (email: string) => Promise<void>;
}

/** Who is an admin when a seat is started without a setting. */
export const operator = 'admin@doorstep.local';

let browser: Promise<Browser> | undefined;
const contexts: BrowserContext[] = [];

afterAll(async () => {
  for (const context of contexts) await context.close();
  await (await browser)?.close();
});

/** Starts the built service on a folder; it is stopped after the test file at the latest. */
export const startPortal = async (
  environment: Readonly<Record<string, string>> = {},
  folder = temporaryFolder(),
): Promise<PortalSeat> => {
  const server = await startServer(folder, environment);
  const { address } = server;
  const admin = new Doorstep({ baseUrl: address, token: await mintToken(folder) });

  const newest = async (email: string): Promise<OutboxMail | undefined> => (await admin.outbox.list({ to: email, limit: 1 }))[0];

  const mailTo = async (email: string): Promise<OutboxMail> => {
    const mail = await newest(email);
    if (mail === undefined) throw new Error(`no mail was sent to ${email}`);
    return mail;
  };

  const open = async (options: BrowserContextOptions = {}): Promise<PortalWindow> => {
    browser ??= startChromium();
    const context = await (await browser).newContext({ locale: 'en-GB', ...options });
    contexts.push(context);
    const page = await context.newPage();
    // Only ends what hangs: a browser is slow on a busy machine.
    page.setDefaultTimeout(60_000);
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));

    const signInAs = async (email: string): Promise<void> => {
      await page.locator('input[type=email]').fill(email);
      const before = (await newest(email))?.id;
      await page.locator('button[type=submit]').first().click();
      const mail = await eventually(`the mail to ${email}`, async () => {
        const found = await newest(email);
        return found?.id === before ? undefined : found;
      });
      await page.locator('input[name=code]').fill(codeIn(mail));
      await page.locator('button[type=submit]').first().click();
    };

    let isSignedIn = false;
    const visit = async (path: string, email: string): Promise<void> => {
      await page.goto(`${address}/app${path}`);
      if (!isSignedIn) await signInAs(email);
      isSignedIn = true;
      // The router leaves the last slash of its root out.
      await page.waitForURL((url) => [`/app${path}`, `/app${path}`.replace(/\/$/, '')].includes(url.pathname + url.search));
    };
    return { page, context, complaints, visit, signInAs };
  };
  return { server, folder, address, admin, open, mailTo };
};

/** Picks a step up by keys. One that comes before the list listens and is measured is lost. */
export const pickUpByKey = async (page: Page, grip: Locator): Promise<void> => {
  await grip.press('Space');
  await grip.and(page.locator('[aria-pressed="true"]')).waitFor();
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
};

interface Hold {
  /** Once a request is held. */
  readonly arrived: () => Promise<unknown>;
  readonly letGo: () => Promise<void>;
}

/** Holds the requests of a method to addresses that end so, until they are let go. */
export const hold = async (page: Page, method: string, end: string): Promise<Hold> => {
  let held = 0;
  let isOver = false;
  await page.route(
    (url) => url.pathname.endsWith(end),
    async (route) => {
      if (route.request().method() === method) {
        held += 1;
        await eventually('the request to be let go', () => isOver || undefined);
      }
      await route.continue();
    },
  );
  return {
    arrived: () => eventually(`${method} to ${end}`, () => held > 0 || undefined),
    letGo: async () => {
      isOver = true;
      await page.unrouteAll({ behavior: 'wait' });
    },
  };
};

/** Lists come with one item a page, as they do in many pages where there is much of it. */
export const withShortPages = async (page: Page): Promise<void> => {
  await page.route(
    (url) => url.searchParams.get('limit') === '200',
    (route) => route.continue({ url: route.request().url().replace('limit=200', 'limit=1') }),
  );
};

/**
 * Before axe looks: a button on its way from one colour to another has the contrast of neither. Frames are asked for, because a
 * change of colours is followed in the next one, and no transition ends without one.
 */
export const transitionsEnd = (page: Page): Promise<unknown> =>
  page.evaluate(`(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    await frame();
    await frame();
    const isUnderWay = ({ playState, effect }) => playState === 'running' && effect.getComputedTiming().endTime < Infinity;
    while (document.getAnimations().some(isUnderWay)) await frame();
  })()`);

/** axe finds nothing, and nothing scrolls sideways. A page is looked at once its heading is there: what stands around it comes first. */
export const looksRight = async (page: Page): Promise<void> => {
  await page.locator('h1').first().waitFor({ state: 'attached' });
  await transitionsEnd(page);
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toStrictEqual([]);
  const [content, window] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  );
  expect(content).toBeLessThanOrEqual(window);
};
