import { basename, dirname, join } from 'node:path';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, expect, test } from '@jest/globals';
import { createEmbeddedLedger } from '../../src/integrations/payments/embedded.js';
import { createTestClock } from '../support/testClock.js';
import { temporaryFolder } from '../support/temporary.js';
import { openVaultIn } from '../support/vaults.js';
import { paymentsContract } from './payments.contract.js';

type EmbeddedLedger = ReturnType<typeof createEmbeddedLedger>;
const opened: EmbeddedLedger[] = [];
afterAll(() => {
  for (const ledger of opened) ledger.close();
});

const clock = createTestClock();
const { personal } = await openVaultIn(temporaryFolder(), clock);
const assertHeld = (): void => undefined;
const open = (file = join(temporaryFolder(), 'ledger.db'), on = clock): EmbeddedLedger => {
  const ledger = createEmbeddedLedger({ file, clock: on, baseUrl: () => 'https://doorstep.example', personal });
  opened.push(ledger);
  return ledger;
};

paymentsContract('embedded ledger', () => {
  const own = createTestClock();
  const payments = open(undefined, own);
  let count = 0;
  return Promise.resolve({
    payments,
    priceId: 'basic',
    otherPriceId: 'plus',
    addInvoice: async (of) => {
      await own.advance(1_000);
      count += 1;
      const dueAt = count % 3 === 0 ? undefined : `2026-02-0${String(9 - count)}T00:00:00.000Z`;
      return (await payments.addInvoice(of, { ...invoice, id: `billed-${String(count)}`, dueAt })).id;
    },
    payInvoice: async (id) => {
      await payments.payInvoice(id);
    },
  });
});

const listOf = async (ledger: EmbeddedLedger, whose: { websiteId: string; clientId: string }) =>
  (await ledger.listInvoices({ ...whose, sort: '-createdAt', limit: 100, subscriptions: () => Promise.resolve([]) })).items;
const account = { websiteId: 'site', clientId: 'client' };
const invoice = { id: 'invoice-1', total: 4_900, currency: 'eur', description: 'March' };

test('an invoice is added once, listed newest first, and only for its owner', async () => {
  const ledger = open();
  const first = await ledger.addInvoice(account, invoice);
  expect(first).toEqual({
    id: 'invoice-1',
    websiteId: 'site',
    clientId: 'client',
    number: '000001',
    status: 'open',
    total: 4_900,
    amountPaid: 0,
    currency: 'eur',
    description: 'March',
    url: expect.stringMatching(/^https:\/\/doorstep\.example\/app\/invoices\/invoice-1\?key=[\w-]{22}$/),
    createdAt: '2026-01-01T00:00:00.000Z',
  });
  expect(await ledger.addInvoice(account, { ...invoice, total: 1 })).toEqual(first);
  const dueAt = '2026-02-01T00:00:00.000Z';
  const second = await ledger.addInvoice(account, { ...invoice, id: 'invoice-2', dueAt });
  expect(second).toMatchObject({ dueAt });
  expect(await listOf(ledger, account)).toEqual([second, first]);
  expect(await listOf(ledger, { ...account, clientId: 'other' })).toEqual([]);
  expect(await listOf(ledger, { ...account, websiteId: 'other' })).toEqual([]);
});

test('invoices are numbered without gaps, also when each is added several times, through a file that is open twice', async () => {
  const file = join(temporaryFolder(), 'ledger.db');
  const [one, other] = [open(file), open(file)];
  for (let count = 1; count <= 3; count += 1) {
    const added = { ...invoice, id: `invoice-${String(count)}` };
    await Promise.all([one, other, one, other].map((ledger) => ledger.addInvoice(account, added)));
  }
  const numbers = (await listOf(one, account)).map(({ number }) => number);
  expect(numbers.sort()).toEqual(['000001', '000002', '000003']);
});

test('marking an invoice as paid again keeps the first time', async () => {
  const ledger = open();
  await ledger.addInvoice(account, invoice);
  const paid = await ledger.payInvoice('invoice-1');
  expect(paid).toMatchObject({ status: 'paid', amountPaid: 4_900, paidAt: '2026-01-01T00:00:00.000Z' });
  await clock.advance(60_000);
  expect(await ledger.payInvoice('invoice-1')).toEqual(paid);
});

test('a void invoice is not paid any more', async () => {
  const ledger = open();
  const voided = await ledger.voidInvoice(await ledger.addInvoice(account, invoice));
  expect(voided).toMatchObject({ status: 'void', amountPaid: 0 });
  expect(await ledger.payInvoice('invoice-1')).toEqual(voided);
});

/** A file of the first version, in which descriptions are readable. */
const oldFile = (): string => {
  const file = join(temporaryFolder(), 'ledger.db');
  const before = new DatabaseSync(file);
  before.exec(`
    CREATE TABLE subscription (
      number INTEGER PRIMARY KEY AUTOINCREMENT, website TEXT NOT NULL, client TEXT NOT NULL, price TEXT, created TEXT NOT NULL,
      ended TEXT
    ) STRICT;
    CREATE UNIQUE INDEX live ON subscription (website, client) WHERE ended IS NULL;
    CREATE TABLE invoice (
      number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, website TEXT NOT NULL, client TEXT NOT NULL,
      total INTEGER NOT NULL, currency TEXT NOT NULL, description TEXT NOT NULL, created TEXT NOT NULL, due TEXT, paid TEXT
    ) STRICT;
    CREATE INDEX of_website ON invoice (website, client);
    INSERT INTO invoice (id, website, client, total, currency, description, created)
      VALUES ('old', 'site', 'client', 100, 'eur', 'Readable then', '2025-01-01T00:00:00.000Z'),
        ('other', 'site', 'another', 100, 'eur', 'Of another client', '2025-01-01T00:00:00.000Z');
    PRAGMA user_version = 1;
  `);
  before.close();
  return file;
};

test('a file of the first version is read and written on', async () => {
  const file = oldFile();
  const [old] = await listOf(open(file), account);
  expect(old).toMatchObject({
    id: 'old',
    number: '000001',
    status: 'open',
    description: 'Readable then',
    url: expect.stringMatching(/\?key=[\w-]{22}$/),
  });
  if (old === undefined) throw new Error('there is no invoice');
  expect(await open(file).voidInvoice(old)).toMatchObject({ id: 'old', status: 'void' });
});

test('descriptions of a client who is erased leave the file, those that were readable too', async () => {
  const file = oldFile();
  const [ledger, other] = [open(file), open(file)];
  await other.addInvoice(account, invoice);
  const holds = (text: string): boolean =>
    readdirSync(dirname(file))
      .filter((name) => name.startsWith(basename(file)))
      .some((name) => readFileSync(join(dirname(file), name)).includes(text));
  expect(holds('Readable then')).toBe(true);
  await ledger.forget('ana@example.com', 'encrypted', 'client');
  expect(holds('Readable then')).toBe(false);
  expect((await listOf(other, account)).map(({ description }) => description)).toEqual(['[erased]', '[erased]']);
  expect(await listOf(other, { ...account, clientId: 'another' })).toEqual([
    expect.objectContaining({ description: 'Of another client' }),
  ]);
});

test('where there is no file, an erasure makes none', async () => {
  const file = join(temporaryFolder(), 'ledger.db');
  await open(file).forget('ana@example.com', 'encrypted', 'client');
  expect(existsSync(file)).toBe(false);
});

test.each([
  ['of a client', 'client = ?'],
  ['open', 'paid IS NULL AND voided IS NULL'],
  ['paid', 'paid IS NOT NULL'],
  ['void', 'paid IS NULL AND voided IS NOT NULL'],
  ['void, of a client', 'client = ? AND paid IS NULL AND voided IS NOT NULL'],
])('invoices are counted in an index alone, in an older file too: %s', async (_, where) => {
  const file = join(temporaryFolder(), 'ledger.db');
  await open(file).addInvoice(account, invoice);
  const before = new DatabaseSync(file);
  before.exec('DROP INDEX IF EXISTS of_client; DROP INDEX IF EXISTS by_status');
  before.close();
  expect(await open(file).countInvoices({ clientId: 'client', status: 'open' })).toBe(1);
  const after = new DatabaseSync(file);
  const sql = `EXPLAIN QUERY PLAN SELECT count(*) AS count FROM invoice WHERE TRUE AND ${where}`;
  const plan = after.prepare(sql).all(...(where.includes('?') ? ['client'] : []));
  after.close();
  expect(plan).toMatchObject([{ detail: expect.stringMatching(/^SEARCH invoice USING COVERING INDEX/) }]);
});

test('a number that a restored ledger gave again shows nobody the subscription of somebody else', async () => {
  const ledger = open(join(temporaryFolder(), 'ledger.db'));
  const another = { customerId: 'another', clientId: 'another', websiteId: 'another-site' };
  const { id } = await ledger.createSubscription({ ...another, claim: 'claim' }, assertHeld);
  const recorded = { ...another, id };
  expect(
    await ledger.readSubscriptions([
      { ...recorded, websiteId: 'site' },
      { ...recorded, clientId: 'client' },
    ]),
  ).toEqual([]);
  expect(await ledger.readSubscriptions([recorded])).toMatchObject([{ id }]);
});

test('two processes share the file, and acknowledged writes survive a restart', async () => {
  const file = join(temporaryFolder(), 'ledger.db');
  const [one, other] = [open(file), open(file)];
  const manualInvoices = Array.from({ length: 20 }, (_, index) => ({ ...invoice, id: `invoice-${index}` }));
  await Promise.all(manualInvoices.map((each, index) => (index % 2 === 0 ? one : other).addInvoice(account, each)));
  const subscription = { customerId: 'client', clientId: 'client', websiteId: 'site', claim: 'claim' };
  const made = await Promise.all([
    one.createSubscription(subscription, assertHeld),
    other.createSubscription(subscription, assertHeld),
  ]);
  expect(made[0]).toEqual(made[1]);
  one.close();
  other.close();
  const reopened = open(file);
  expect(await listOf(reopened, account)).toHaveLength(20);
  expect(await reopened.readSubscriptions([{ ...subscription, id: made[0].id }])).toEqual([made[0]]);
});

test('an invalid file is a transient fault whose message names no path', async () => {
  const file = join(temporaryFolder(), 'ledger.db');
  writeFileSync(file, 'not a database, but long enough to be looked at as one'.repeat(100));
  const attempt = open(file).readSubscriptions([{ ...account, id: 'subscription-1', customerId: 'client' }]);
  await expect(attempt).rejects.toMatchObject({
    name: 'ProviderFault',
    transient: true,
    message: 'The ledger (ledger.db) cannot be used',
  });
});
