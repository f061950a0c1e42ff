import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createEmbeddedLedger } from '../../src/integrations/payments/embedded.js';
import { systemClock } from '../../src/platform/clock.js';
import { createTransferWorker } from '../../src/workers/transfer/transferWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { partsOf } from '../support/process.js';

/** Billing on the embedded ledger: what Stripe has, and invoices written by hand. */
let api: RunningApi;
let worker: Worker;
let ledger: ReturnType<typeof createEmbeddedLedger>;
let admin: string;
let ana: string;
let websiteId: string;

beforeAll(async () => {
  api = await startApi();
  // A worker is a process of its own, on the same file.
  ledger = createEmbeddedLedger({ file: `${api.folder}/ledger.db`, clock: systemClock });
  worker = createTransferWorker({ ...partsOf(api.engine), payments: ledger });
  await worker.start();
  admin = await api.mintToken();
  ana = await api.mintToken({ role: 'client', subject: 'ana', verifiedEmail: 'ana@example.com' });
  websiteId = ((await call('POST', '/websites', admin, { name: 'Bakery', slug: 'bakery' })).body as { id: string }).id;
});
afterAll(async () => {
  await worker.stop();
  ledger.close();
});

const call = (method: string, path: string, token: string, body?: unknown, headers = {}): Promise<ApiAnswer> =>
  api.call(method, path, { token, headers, ...(body !== undefined && { body }) });
const refusal = ({ status, body }: ApiAnswer) => [status, (body as { error: string }).error];
const input = { total: 4_900, currency: 'eur', description: 'March' };
const invoices = () => `/websites/${websiteId}/billing/invoices`;

test('a website without an owner has nobody to write an invoice to', async () => {
  expect(refusal(await call('POST', invoices(), admin, input))).toEqual([400, `Website ${websiteId} has no owner`]);
  expect((await call('GET', `/websites/${websiteId}/billing`, admin)).body).toEqual({ subscription: null, invoices: [] });
});

test('a transfer at any price leads to a subscription, and invoices are written, read and paid', async () => {
  const offer = await call('POST', `/websites/${websiteId}/transfers`, admin, { email: 'ana@example.com', priceId: 'basic' });
  expect(offer.status).toBe(201);
  const claimed = await call('POST', `/invitations/${(offer.body as { id: string }).id}/claim`, ana);
  expect(claimed.body).toMatchObject({ invitation: { status: 'accepted' }, website: { via: 'owner' } });

  const key = { 'idempotency-key': 'march' };
  const added = await call('POST', invoices(), admin, { ...input, dueAt: '2026-12-01T00:00:00.000Z' }, key);
  expect([added.status, added.body]).toEqual([201, expect.objectContaining({ status: 'open', total: 4_900, amountPaid: 0 })]);
  const again = await call('POST', invoices(), admin, { ...input, dueAt: '2026-12-01T00:00:00.000Z' }, key);
  expect(again.body).toEqual(added.body);
  expect((await call('POST', `${invoices()}?dryRun=1`, admin, input)).status).toBe(200);
  const due = await call(
    'POST',
    invoices(),
    admin,
    { ...input, dueAt: '2026-12-01T01:00:00+01:00' },
    { 'idempotency-key': 'due' },
  );
  expect(due.body).toMatchObject({ dueAt: '2026-12-01T00:00:00.000Z' });

  const billing = () => call('GET', `/websites/${websiteId}/billing`, ana);
  expect((await billing()).body).toMatchObject({
    subscription: { status: 'active', priceId: 'basic' },
    invoices: [due.body, added.body],
  });
  const { id } = added.body as { id: string };
  const paid = await call('POST', `${invoices()}/${id}/pay`, admin);
  expect(paid.body).toMatchObject({ id, status: 'paid', amountPaid: 4_900, paidAt: expect.any(String) });
  expect((await billing()).body).toMatchObject({ invoices: [due.body, paid.body] });
  for (const query of ['', '?dryRun=1']) {
    const answer = await call('POST', `${invoices()}/unknown/pay${query}`, admin);
    expect(refusal(answer)).toEqual([404, 'Invoice unknown not found']);
  }

  const portal = await call('POST', `/websites/${websiteId}/billing/portal`, ana);
  expect(portal.body).toEqual({ url: `${api.url}/websites/${websiteId}/billing` });
});

test('what is no amount or no currency is refused', async () => {
  for (const bad of [{ total: 0 }, { total: 1.5 }, { currency: 'EUR' }, { description: ' ' }, { dueAt: 'soon' }]) {
    expect((await call('POST', invoices(), admin, { ...input, ...bad })).status).toBe(400);
  }
});
