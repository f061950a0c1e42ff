import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Doorstep, type Website } from '@doorstep/sdk';
import { mintToken } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dir = join(temporaryFolder(), 'demo');

interface Demo {
  /** Resolves with the address once it is open. */
  readonly address: Promise<string>;
  readonly written: () => string;
  readonly stop: () => Promise<number | null>;
}

const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

const start = (...args: string[]): Demo => {
  const child = spawn(process.execPath, [join(root, 'scripts', 'demo.mjs'), ...args], {
    // What another installation of the same shell is set to must not lead the demo there.
    env: { PATH: process.env.PATH ?? '', PORT: '0', DATA_DIR: '/nowhere', EVENT_STORE_URL: 'esdb://nowhere:1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const ended = once(child, 'exit').then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  let written = '';
  const address = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      written += chunk.toString();
      const opened = /^Doorstep is open at (\S+)$/m.exec(written)?.[1];
      if (opened !== undefined) resolve(opened);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then((code) => {
      reject(new Error(`the demo ended with ${String(code)}:\n${written}`));
    });
  });
  // A demo that is meant to end is not asked for its address.
  address.catch(() => undefined);
  return {
    address,
    written: () => written,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
};

let demo: Demo;
let doorstep: Doorstep;
/** The newest website of each slug. */
const bySlug = new Map<string, Website>();

const website = (slug: string): Website => {
  const found = bySlug.get(slug);
  if (found === undefined) throw new Error(`there is no website ${slug}`);
  return found;
};
const idOf = (slug: string): string => website(slug).id;
const slugsOf = (websites: readonly Website[]): readonly string[] => websites.map(({ slug }) => slug).toSorted();
const daysAgo = (time: string | undefined): number => (Date.now() - Date.parse(time ?? '')) / 86_400_000;

beforeAll(async () => {
  demo = start('--dir', dir);
  const baseUrl = await demo.address;
  doorstep = new Doorstep({ baseUrl, token: await mintToken(dir) });
  for (const archived of [true, false]) {
    for await (const one of doorstep.websites.list({ archived })) bySlug.set(one.slug, one);
  }
}, 480_000);

test('it says who can sign in', () => {
  for (const name of ['mara@northlight', 'anna@corner-bakery', 'leila@studio-haddad', 'tomas@corner-bakery']) {
    expect(demo.written()).toContain(`  ${name}.example  `);
  }
});

describe('twelve websites are in twelve states', () => {
  test('they are twelve', () => {
    expect(bySlug.size).toBe(12);
  });

  test('one is being built as the demo opens', async () => {
    let last = '';
    for await (const { status } of doorstep.websites.provisioning.watch(idOf('fjord-kayaks'))) last = status;
    expect(last).toBe('succeeded');
    expect(daysAgo(website('fjord-kayaks').createdAt)).toBeLessThan(1);
  });

  test('one has failed, and says why', async () => {
    expect(slugsOf(await doorstep.websites.list({ attention: 'failed' }))).toStrictEqual(['harbour-cafe']);
    expect(await doorstep.websites.provisioning.get(idOf('harbour-cafe'))).toMatchObject({
      status: 'failed',
      reason: 'github_create_repo: The repository name harbour-cafe is already taken',
    });
  });

  test('two wait for their client, one is late', async () => {
    expect(slugsOf(await doorstep.websites.list({ attention: 'waiting' }))).toStrictEqual(['cafe-ondine', 'corner-bakery']);
    expect(slugsOf(await doorstep.websites.list({ attention: 'late' }))).toStrictEqual(['okafor-architects']);
  });

  test('one is archived, one is to be deleted', () => {
    expect(website('rossi-bikes')).toMatchObject({ archivedAt: expect.any(String) });
    expect(website('rossi-bikes').purgeAt).toBeUndefined();
    expect(daysAgo(website('sunrise-yoga').purgeAt)).toBeLessThan(-7);
  });

  test('one waits for its new owner, one has one who pays', async () => {
    const [offered] = await doorstep.websites.transfers.list(idOf('mehta-tax'));
    expect(offered).toMatchObject({ kind: 'ownership_transfer', status: 'pending', email: 'priya@mehta-tax.example' });
    const { subscription, invoices } = await doorstep.websites.billing.get(idOf('duarte-dental'));
    expect(subscription).toMatchObject({ status: 'active' });
    expect(invoices.map(({ status }) => status)).toStrictEqual(['open', 'paid', 'paid']);
  });

  test('one has no delivery yet, one hides its preview, and one undid a change', async () => {
    await expect(doorstep.websites.delivery.get(idOf('brass-and-oak'))).rejects.toMatchObject({ status: 404 });
    const block = await doorstep.websites.delivery.get(idOf('green-valley-vet'));
    expect(block).toMatchObject({ showPreviewUrl: false, previewUrl: expect.any(String) });
    expect(block.checkpoints.map(({ id }) => id)).toContain('booking-form');
    const history = await doorstep.websites.delivery.history(idOf('green-valley-vet'));
    expect(history.at(-1)).toMatchObject({ type: 'DeliveryUndone' });
  });

  test('one invitation waits, one has lapsed, and their mails left on their days', async () => {
    const { invitations } = await doorstep.websites.clients.list(idOf('cafe-ondine'));
    const byEmail = new Map(invitations.map((one) => [one.email, one]));
    expect(byEmail.get('samir@cafe-ondine.example')?.status).toBe('pending');
    expect(byEmail.get('odile@cafe-ondine.example')?.status).toBe('expired');
    for (const { createdAt, sentAt } of invitations) expect(daysAgo(createdAt) - daysAgo(sentAt)).toBeLessThan(0.01);
  });
});

describe('the agency has lived', () => {
  test('for three months, up to now and not beyond', async () => {
    let oldest = '';
    let newest = '';
    for await (const { at } of doorstep.audit.list({ limit: 200 })) {
      newest ||= at;
      oldest = at;
    }
    expect(daysAgo(oldest)).toBeGreaterThan(85);
    expect(daysAgo(newest)).toBeGreaterThanOrEqual(0);
  });

  test('with documents, pictures, drafts, letters, bookings, domains, readers, visitors, scans and a forecast', async () => {
    const { websites } = doorstep;
    expect(await websites.documents.list(idOf('corner-bakery'))).toHaveLength(2);
    expect(await websites.media.list(idOf('tanaka-ceramics'))).toMatchObject([{ name: 'Bowls.jpg' }]);
    expect(await websites.content.list(idOf('corner-bakery'))).toContainEqual(expect.objectContaining({ id: 'company' }));
    expect(await websites.marketing.list(idOf('tanaka-ceramics'))).toHaveLength(1);
    expect(await websites.bookings.list(idOf('duarte-dental'))).toHaveLength(1);
    expect(await websites.domains.list(idOf('duarte-dental'))).toHaveLength(1);
    expect((await websites.delivery.readers(idOf('corner-bakery'))).length).toBeGreaterThanOrEqual(2);
    expect((await websites.analytics.get(idOf('duarte-dental'))).visitors).toBeGreaterThan(50);
    expect((await websites.seo.get(idOf('duarte-dental'))).latest).toMatchObject({ status: 'completed' });
    const { tooFew, checkpoints } = await websites.delivery.forecast(idOf('corner-bakery'));
    expect([tooFew, checkpoints.length]).toStrictEqual([undefined, 3]);
  });

  test('its sites are there', async () => {
    const page = await (await fetch(website('corner-bakery').url ?? '')).text();
    expect(page).toContain('Bread from four in the morning.');
  });

  test('nobody is left with a token of its making', async () => {
    for (const subject of ['mara@northlight.example', 'anna@corner-bakery.example']) {
      expect(await doorstep.apiKeys.list({ subject })).toStrictEqual([]);
    }
  });
});

test('started again, it is the same one, and at once', async () => {
  expect(await demo.stop()).toBe(0);
  const again = start('--dir', dir);
  await again.address;
  expect(again.written()).not.toContain('making the demo');
  expect(await again.stop()).toBe(0);
}, 240_000);

test('a folder that holds something else is left alone', async () => {
  const other = temporaryFolder();
  await writeFile(join(other, 'letters.txt'), 'Dear Anna');
  for (const args of [[], ['--fresh']]) {
    const refused = start('--dir', other, ...args);
    await expect(refused.address).rejects.toThrow(/ended with 1:[\s\S]*holds something that is no demo/);
  }
});
