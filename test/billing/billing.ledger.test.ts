import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { invoiceDecider } from '../../src/commands/billing/invoice.decider.js';
import type { CommandContext } from '../../src/commands/handleCommand.js';
import { createEmbeddedLedger } from '../../src/integrations/payments/embedded.js';
import { systemClock } from '../../src/platform/clock.js';
import { createLedgerWorker } from '../../src/workers/billing/ledgerWorker.js';
import { createTransferWorker } from '../../src/workers/transfer/transferWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
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
  api = await startApi({ holders: [{ forget: (...person) => ledger.forget(...person) }] });
  // A worker is a process of its own, on the same file.
  ledger = createEmbeddedLedger({
    file: `${api.folder}/ledger.db`,
    clock: systemClock,
    baseUrl: () => api.url,
    personal: api.engine.personal,
  });
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
  const countOf = async (query: string): Promise<string | null> =>
    (await call('GET', `/invoices?limit=1&count=true${query}`, admin)).headers.get('total-count');
  expect(await countOf('')).toBe('2');
  expect(await countOf('&status=paid')).toBe('1');
  expect(await countOf(`&status=open&websiteId=${websiteId}`)).toBe('1');
  expect(await countOf('&clientId=nobody')).toBe('0');
  for (const query of ['', '?dryRun=1']) {
    const answer = await call('POST', `${invoices()}/unknown/pay${query}`, admin);
    expect(refusal(answer)).toEqual([404, 'Invoice unknown not found']);
  }

  const portal = await call('POST', `/websites/${websiteId}/billing/portal`, ana);
  expect(portal.body).toEqual({ url: `${api.url}/app/websites/${websiteId}/billing` });
});

test('an invoice is voided once, and neither paid then nor voided once it is paid', async () => {
  const { id, ...fields } = (await call('POST', invoices(), admin, input)).body as { id: string };
  const path = `${invoices()}/${id}`;
  const { events } = (await call('POST', `${path}/void?dryRun=1`, admin)).body as { events: unknown };
  expect(events).toEqual([expect.objectContaining({ type: 'InvoiceVoided', stream: `billing-${websiteId}` })]);
  const voided = await call('POST', `${path}/void`, admin);
  expect([voided.status, voided.body]).toEqual([200, { id, ...fields, status: 'void', voidedAt: expect.any(String) }]);
  expect((await call('POST', `${path}/void`, admin)).body).toEqual(voided.body);
  expect(refusal(await call('POST', `${path}/pay`, admin))).toEqual([400, `Invoice ${id} is void`]);

  const other = ((await call('POST', invoices(), admin, input)).body as { id: string }).id;
  await call('POST', `${invoices()}/${other}/pay`, admin);
  for (const query of ['', '?dryRun=1']) {
    expect(refusal(await call('POST', `${invoices()}/${other}/void${query}`, admin))).toEqual([400, `Invoice ${other} is paid`]);
  }
  expect(refusal(await call('POST', `${invoices()}/unknown/void`, admin))).toEqual([404, 'Invoice unknown not found']);
});

test('the audit says who wrote, paid and voided an invoice, and a dry run says what it would', async () => {
  const tried = await call('POST', `${invoices()}?dryRun=1`, admin, { ...input, dueAt: '2026-12-01T00:00:00.000Z' });
  expect(tried.body).toEqual({
    events: [
      expect.objectContaining({
        type: 'InvoiceIssued',
        stream: `billing-${websiteId}`,
        data: expect.objectContaining({ websiteId, ...input, dueAt: '2026-12-01T00:00:00.000Z' }),
      }),
    ],
  });
  const written = async () => (await call('POST', invoices(), admin, input)).body as { id: string; clientId: string };
  const [one, other] = [await written(), await written()];
  const pay = `${invoices()}/${one.id}/pay`;
  const { events } = (await call('POST', `${pay}?dryRun=1`, admin)).body as { events: unknown };
  expect(events).toEqual([expect.objectContaining({ type: 'InvoicePaid' })]);
  for (const path of [pay, pay, `${invoices()}/${other.id}/void`, `${invoices()}/${other.id}/void`]) {
    expect((await call('POST', path, admin)).status).toBe(200);
  }

  const entries = (await call('GET', `/audit?websiteId=${websiteId}&limit=4`, admin)).body as object[];
  const { clientId } = one;
  const by = { actor: expect.objectContaining({ role: 'admin', via: 'token' }) };
  expect(entries).toEqual([
    expect.objectContaining({ ...by, type: 'InvoiceVoided', data: { websiteId, invoiceId: other.id, clientId } }),
    expect.objectContaining({ ...by, type: 'InvoicePaid', data: { websiteId, invoiceId: one.id, clientId } }),
    expect.objectContaining({ ...by, type: 'InvoiceIssued', data: { websiteId, invoiceId: other.id, clientId, ...input } }),
    expect.objectContaining({ ...by, type: 'InvoiceIssued', data: { websiteId, invoiceId: one.id, clientId, ...input } }),
  ]);
});

test('what the ledger lacks after an interruption is written by the worker, once', async () => {
  const { id, clientId } = (await call('POST', invoices(), admin, input)).body as { id: string; clientId: string };
  const context = (): CommandContext => {
    const commandId = api.engine.ids.commandId();
    return { commandId, actor: { subject: 'ops@example.com', role: 'admin', via: 'portal' }, requestId: commandId };
  };
  const [paid, voided] = ['invoice-to-pay', 'invoice-to-void'];
  const description = await api.engine.personal.encrypt('ana@example.com', 'April');
  for (const invoiceId of [paid, voided]) {
    const issue = { type: 'IssueInvoice', websiteId, clientId, invoiceId, total: 900, currency: 'eur', description } as const;
    await api.engine.handle(invoiceDecider, issue, context());
  }
  const settled = { websiteId, clientId, status: 'open' };
  await api.engine.handle(invoiceDecider, { type: 'PayInvoice', invoiceId: paid, ...settled }, context());
  const voiding = { type: 'VoidInvoice', invoiceId: voided, ...settled, isRequest: false } as const;
  await api.engine.handle(invoiceDecider, voiding, context());

  const follower = createLedgerWorker({ ...partsOf(api.engine), ledger });
  await follower.start();
  try {
    await eventually('the invoices of the log', async () => {
      const { items } = await ledger.listInvoices({
        websiteId,
        sort: 'createdAt',
        limit: 200,
        subscriptions: () => Promise.resolve([]),
      });
      const of = (wanted: string) => items.find((one) => one.id === wanted);
      if (of(voided)?.status !== 'void') return undefined;
      expect(of(paid)).toMatchObject({ clientId, status: 'paid', total: 900, currency: 'eur', description: 'April' });
      expect(items.filter((one) => one.id === id)).toEqual([expect.objectContaining({ status: 'open' })]);
      return true;
    });
  } finally {
    await follower.stop();
  }
});

test('an invoice opens as a page, for whoever has its whole address', async () => {
  const added = await call('POST', invoices(), admin, {
    ...input,
    description: '<b>Flour</b> & salt',
    dueAt: '2026-12-01T00:00:00.000Z',
  });
  const { id, number, url } = added.body as { id: string; number: string; url: string };
  const page = async (address: string) => {
    const answer = await fetch(address);
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const { status, headers, text } = await page(url);
  expect(status).toBe(200);
  expect(text).toContain(`<h1>Invoice ${number}</h1>`);
  for (const words of [
    '€49.00',
    'To be paid by 1 December 2026.',
    '&lt;b&gt;Flour&lt;/b&gt; &amp; salt',
    'Bakery',
    'ana@example.com',
  ]) {
    expect(text).toContain(words);
  }
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(text).toContain('<meta name="robots" content="noindex" />');

  const other = ((await call('POST', invoices(), admin, input)).body as { url: string }).url;
  const key = new URL(other).search;
  for (const stranger of ['', '?key=', '?key=nonsense', key]) {
    const refused = await page(`${api.url}/app/invoices/${id}${stranger}`);
    expect([stranger, refused.status]).toEqual([stranger, 404]);
    expect(refused.text).not.toMatch(/Flour|ana@example|49/);
  }
  await call('POST', `${invoices()}/${id}/void`, admin);
  expect((await page(url)).text).toContain('nothing is to be paid');
});

test('what an invoice says of a client is not readable in the file, and nowhere after their erasure', async () => {
  const { id } = (await call('POST', '/websites', admin, { name: 'Cakes', slug: 'cakes' })).body as { id: string };
  const offer = await call('POST', `/websites/${id}/transfers`, admin, { email: 'eve@example.com' });
  const eve = await api.mintToken({ role: 'client', subject: 'eve', verifiedEmail: 'eve@example.com' });
  expect((await call('POST', `/invitations/${(offer.body as { id: string }).id}/claim`, eve)).status).toBe(200);
  const description = 'Cake for the wedding of Eve';
  const added = await call('POST', `/websites/${id}/billing/invoices`, admin, { ...input, description });
  expect([added.status, added.body]).toEqual([201, expect.objectContaining({ description })]);
  const { clientId, url } = added.body as { clientId: string; url: string };
  const page = async (): Promise<string> => (await fetch(url)).text();
  expect(await page()).toContain(description);
  const files = readdirSync(api.folder).filter((name) => name.startsWith('ledger.db'));
  expect(files).toContain('ledger.db');
  for (const name of files) expect([name, readFileSync(join(api.folder, name)).includes(description)]).toEqual([name, false]);

  expect((await call('DELETE', `/clients/${clientId}`, admin)).status).toBe(204);
  expect((await call('GET', `/invoices?clientId=${clientId}`, admin)).body).toEqual([
    { ...(added.body as object), description: '[erased]' },
  ]);
  expect(await page()).toContain('[erased]');
  expect(await page()).not.toContain(description);
});

test('an invoice to somebody who is erased meanwhile is not written', async () => {
  const clientId = ((await call('POST', '/clients', admin, { email: 'gus@example.com' })).body as { id: string }).id;
  const { id } = (await call('POST', '/websites', admin, { name: 'Tarts', slug: 'tarts', clientId })).body as { id: string };
  const description = 'Tart for the birthday of Gus';
  const { personal } = api.engine;
  const encrypt = personal.encrypt.bind(personal);
  const spy = jest.spyOn(personal, 'encrypt').mockImplementation(async (address, text, how) => {
    if (text === description) await call('DELETE', `/clients/${clientId}`, admin);
    return encrypt(address, text, how);
  });
  const added = await call('POST', `/websites/${id}/billing/invoices`, admin, { ...input, description });
  spy.mockRestore();
  expect(refusal(added)).toEqual([400, `Website ${id} has no owner`]);
  expect((await call('GET', `/invoices?websiteId=${id}`, admin)).body).toEqual([]);
});

test('after a change of owner the admin sees all that was billed, each owner their own', async () => {
  const { id } = (await call('POST', '/websites', admin, { name: 'Shop', slug: 'shop' })).body as { id: string };
  const billing = (token: string) => call('GET', `/websites/${id}/billing`, token);
  const owner = async (email: string): Promise<string> => {
    const offer = await call('POST', `/websites/${id}/transfers`, admin, { email });
    const token = await api.mintToken({ role: 'client', subject: email, verifiedEmail: email });
    expect((await call('POST', `/invitations/${(offer.body as { id: string }).id}/claim`, token)).status).toBe(200);
    return token;
  };
  const bill = async () => (await call('POST', `/websites/${id}/billing/invoices`, admin, input)).body;
  const cleo = await owner('cleo@example.com');
  const first = await bill();
  const before = (await billing(cleo)).body as { subscription: object };
  expect(before).toEqual({ subscription: expect.objectContaining({ status: 'active' }), invoices: [first] });

  const dan = await owner('dan@example.com');
  const second = await bill();
  const { clientId } = second as { clientId: string };
  await eventually('the end of the first subscription', async () => {
    const { previousSubscriptions } = (await billing(admin)).body as { previousSubscriptions?: { status: string }[] };
    return previousSubscriptions?.[0]?.status === 'canceled' ? true : undefined;
  });
  expect((await billing(admin)).body).toEqual({
    subscription: expect.objectContaining({ status: 'active' }),
    previousSubscriptions: [{ ...before.subscription, status: 'canceled', canceledAt: expect.any(String) }],
    invoices: [second, first],
  });
  expect((await billing(dan)).body).toEqual({ subscription: expect.objectContaining({ status: 'active' }), invoices: [second] });
  expect((await billing(cleo)).status).toBe(403);
  const one = (invoice: unknown, token: string) =>
    call('GET', `/websites/${id}/billing/invoices/${(invoice as { id: string }).id}`, token);
  expect([(await one(second, dan)).status, (await one(first, dan)).status, (await one(first, admin)).status]).toEqual([
    200, 404, 200,
  ]);

  await call('DELETE', `/websites/${id}/owner`, admin);
  expect((await billing(admin)).body).toMatchObject({ subscription: null, invoices: [second, first] });
  const list = (query: string) => call('GET', `/invoices?${query}`, admin);
  expect((await list(`websiteId=${id}`)).body).toEqual([second, first]);
  expect((await list(`clientId=${clientId}`)).body).toEqual([second]);
  expect((await list(`clientId=${clientId}&status=void`)).body).toEqual([]);
});

test('invoices are listed across websites and clients, in pages, sorted and filtered', async () => {
  for (const dueAt of ['1969-07-20T00:00:00Z', '1950-01-01T00:00:00Z'])
    await call('POST', invoices(), admin, { ...input, dueAt });
  const all = (await call('GET', '/invoices?limit=200', admin)).body as { id: string; createdAt: string; dueAt?: string }[];
  expect(all.length).toBeGreaterThan(5);
  expect(all.map(({ createdAt }) => createdAt)).toEqual(
    all
      .map(({ createdAt }) => createdAt)
      .toSorted()
      .reverse(),
  );
  for (const sort of ['', '-createdAt', 'createdAt', 'dueAt', '-dueAt']) {
    const seen: unknown[] = [];
    for (let next = `/invoices?limit=2${sort === '' ? '' : `&sort=${sort}`}`; next !== '';) {
      const answer = await call('GET', next, admin);
      seen.push(...(answer.body as unknown[]));
      next = /\/v1([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1] ?? '';
    }
    const whole = (await call('GET', `/invoices?limit=200${sort === '' ? '' : `&sort=${sort}`}`, admin)).body;
    expect(seen).toEqual(whole);
    expect(seen).toHaveLength(all.length);
    if (sort === '' || sort === '-createdAt') expect(seen).toEqual(all);
    if (sort === 'createdAt') expect(seen).toEqual(all.toReversed());
    // Those with a due date come first.
    if (!sort.endsWith('dueAt')) continue;
    const isDated = (invoice: unknown) => (invoice as { dueAt?: string }).dueAt !== undefined;
    expect(seen.map(isDated)).toEqual([...seen.filter(isDated), ...seen.filter((one) => !isDated(one))].map(isDated));
    expect(seen.filter(isDated).length).toBeGreaterThan(2);
  }
  const paid = (await call('GET', '/invoices?status=paid', admin)).body as { status: string }[];
  expect(new Set(paid.map(({ status }) => status))).toEqual(new Set(['paid']));
  for (const query of ['status=late', 'sort=total', 'cursor=nonsense']) {
    expect((await call('GET', `/invoices?${query}`, admin)).status).toBe(400);
  }
});

test('a currency may be written in either case, and is answered in lower case', async () => {
  const { status, body } = await call('POST', invoices(), admin, { ...input, currency: 'EUR' });
  expect(status).toBe(201);
  expect(body).toMatchObject({ currency: 'eur' });
});

test('what is no amount or no currency is refused', async () => {
  for (const bad of [{ total: 0 }, { total: 1.5 }, { currency: 'euro' }, { description: ' ' }, { dueAt: 'soon' }]) {
    expect((await call('POST', invoices(), admin, { ...input, ...bad })).status).toBe(400);
  }
});
