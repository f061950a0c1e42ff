import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { afterAll, expect, test } from '@jest/globals';
import { createEmbeddedLedger } from '../../src/integrations/payments/embedded.js';
import { createTestClock } from '../support/testClock.js';
import { temporaryFolder } from '../support/temporary.js';
import { paymentsContract } from './payments.contract.js';

type EmbeddedLedger = ReturnType<typeof createEmbeddedLedger>;
const opened: EmbeddedLedger[] = [];
afterAll(() => {
  for (const ledger of opened) ledger.close();
});

const clock = createTestClock();
const assertHeld = (): void => undefined;
const open = (file = join(temporaryFolder(), 'ledger.db')): EmbeddedLedger => {
  const ledger = createEmbeddedLedger({ file, clock });
  opened.push(ledger);
  return ledger;
};

paymentsContract('embedded ledger', () => Promise.resolve({ payments: open(), priceId: 'basic' }));

const account = { websiteId: 'site', clientId: 'client' };
const invoice = { id: 'invoice-1', total: 4_900, currency: 'eur', description: 'March' };

test('an invoice is added once, listed newest first, and only for its owner', async () => {
  const ledger = open();
  const first = await ledger.addInvoice(account, invoice);
  expect(first).toEqual({
    id: 'invoice-1',
    number: '000001',
    status: 'open',
    total: 4_900,
    amountPaid: 0,
    currency: 'eur',
    description: 'March',
    createdAt: '2026-01-01T00:00:00.000Z',
  });
  expect(await ledger.addInvoice(account, { ...invoice, total: 1 })).toEqual(first);
  const dueAt = '2026-02-01T00:00:00.000Z';
  const second = await ledger.addInvoice(account, { ...invoice, id: 'invoice-2', dueAt });
  expect(second).toMatchObject({ dueAt });
  expect((await ledger.readBilling(account)).invoices).toEqual([second, first]);
  expect((await ledger.readBilling({ ...account, clientId: 'other' })).invoices).toEqual([]);
  expect((await ledger.readBilling({ ...account, websiteId: 'other' })).invoices).toEqual([]);
});

test('marking an invoice as paid again keeps the first time', async () => {
  const ledger = open();
  await ledger.addInvoice(account, invoice);
  expect(await ledger.hasInvoice('other', 'invoice-1')).toBe(false);
  expect(await ledger.hasInvoice('site', 'unknown')).toBe(false);
  expect(await ledger.hasInvoice('site', 'invoice-1')).toBe(true);
  const paid = await ledger.payInvoice('invoice-1');
  expect(paid).toMatchObject({ status: 'paid', amountPaid: 4_900, paidAt: '2026-01-01T00:00:00.000Z' });
  await clock.advance(60_000);
  expect(await ledger.payInvoice('invoice-1')).toEqual(paid);
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
  const { invoices, subscription: kept } = await open(file).readBilling(account);
  expect(invoices).toHaveLength(20);
  expect(kept).toEqual(made[0]);
});

test('an invalid file is a transient fault whose message names no path', async () => {
  const file = join(temporaryFolder(), 'ledger.db');
  writeFileSync(file, 'not a database, but long enough to be looked at as one'.repeat(100));
  const attempt = open(file).readBilling(account);
  await expect(attempt).rejects.toMatchObject({ name: 'ProviderFault', transient: true, message: 'The ledger cannot be used' });
});
