import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { InvoicePlaceGone, type Payments } from '../../src/integrations/payments/port.js';
import { createStripePayments } from '../../src/integrations/payments/stripe.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { billingFold } from '../../src/events/billing/billing.state.js';
import { createTransferWorker } from '../../src/workers/transfer/transferWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { partsOf } from '../support/process.js';
import { hastyClock } from '../support/provider.js';
import { createStripeFake, type StripeFake } from '../support/providers/stripeFake.js';
import { serveFake } from '../support/providers/wire.js';

jest.setTimeout(60_000);

/** Who is billed for a website, and what for, with Stripe. */
let api: RunningApi;
let admin: string;
let stripe: StripeFake;
let payments: Payments;
let worker: Worker;
let count = 0;

beforeAll(async () => {
  stripe = createStripeFake();
  const { url: apiUrl } = await serveFake(stripe.provider);
  const { secretKey, priceId } = stripe;
  const logger = createLogger({ level: 'silent' });
  payments = createStripePayments({ secretKey, priceId, apiUrl, clock: hastyClock(), random: systemRandom, logger });
  api = await startApi({ payments });
  admin = await api.mintToken();
  worker = createTransferWorker({ ...partsOf(api.engine), payments });
  await worker.start();
});
afterAll(() => worker.stop());

interface Person {
  readonly email: string;
  readonly token: string;
}

let website: string;
let ana: Person;
let ben: Person;
beforeEach(async () => {
  count += 1;
  website = `/websites/${await newWebsite()}`;
  [ana, ben] = [await somebody('ana'), await somebody('ben')];
});

const call = (method: string, path: string, token = admin, body?: unknown): Promise<ApiAnswer> =>
  api.call(method, path, { token, ...(body !== undefined && { body }) });
const refusal = ({ status, body }: ApiAnswer) => [status, (body as { error: string }).error];
const newWebsite = async (more: object = {}): Promise<string> => {
  const slug = `bakery-${String((count += 1))}`;
  return ((await call('POST', '/websites', admin, { name: 'Bakery', slug, ...more })).body as { id: string }).id;
};
const somebody = async (name: string): Promise<Person> => {
  const email = `${name}-${String(count)}@example.com`;
  return { email, token: await api.mintToken({ role: 'client', subject: email, verifiedEmail: email }) };
};
const offer = (to: Person, terms: object = {}) => call('POST', `${website}/transfers`, admin, { email: to.email, ...terms });
const claim = (id: unknown, by: Person) => call('POST', `/invitations/${String(id)}/claim`, by.token);
const transfer = async (to: Person, terms: object = {}): Promise<ApiAnswer> => {
  const { body } = await offer(to, terms);
  return claim((body as { id: string }).id, to);
};
const clientOf = async ({ email }: Person): Promise<string> =>
  ((await call('POST', '/clients', admin, { email })).body as { id: string }).id;
const subscriptionsOf = (websiteId: string) =>
  stripe.subscriptions.filter(({ metadata }) => metadata.doorstep_website === websiteId);
const idOfWebsite = () => website.slice('/websites/'.length);
const isEnded = (websiteId: string, index: number) => () =>
  subscriptionsOf(websiteId)[index]?.status === 'canceled' ? true : undefined;

describe('an owner', () => {
  test('set by POST or PATCH has no subscription, and the answers say so; a claim makes one', async () => {
    const clientId = await clientOf(ana);
    const created = await call('POST', '/websites', admin, { name: 'A', slug: `a-${String(count)}`, clientId });
    expect(created.body).toMatchObject({ clientId, billing: 'none' });
    expect((await call('PATCH', website, admin, { clientId })).body).toMatchObject({ clientId, billing: 'none' });
    expect((await call('GET', website, ana.token)).body).toMatchObject({ via: 'owner', billing: 'none' });
    expect((await call('GET', `${website}/billing`)).body).toEqual({ subscription: null, invoices: [] });
    expect(subscriptionsOf(idOfWebsite())).toEqual([]);

    expect((await transfer(ben)).body).toMatchObject({ website: { via: 'owner', billing: 'subscribed' } });
    expect((await call('GET', website)).body).toMatchObject({ billing: 'subscribed' });
    await call('POST', `${website}/clients`, admin, { email: ana.email, role: 'editor' });
    expect((await call('GET', website, ana.token)).body).not.toHaveProperty('billing');
  });

  test.each([
    ['DELETE', (): Promise<ApiAnswer> => call('DELETE', `${website}/owner`), 204],
    ['PATCH', (): Promise<ApiAnswer> => call('PATCH', website, admin, { clientId: null }), 200],
  ])('taken away by %s loses access at once, and is charged nothing further', async (_, remove, status) => {
    await transfer(ana);
    expect((await remove()).status).toBe(status);
    const refused = [403, `Not authorized to access website ${idOfWebsite()}`];
    for (const path of ['', '/billing', '/delivery'])
      expect(refusal(await call('GET', website + path, ana.token))).toEqual(refused);
    const { body } = await call('GET', website);
    expect(body).toMatchObject({ billing: 'none' });
    expect(body).not.toHaveProperty('clientId');
    await eventually('the cancellation', isEnded(idOfWebsite(), 0));

    const none = [404, `Owner of website ${idOfWebsite()} not found`];
    for (const query of ['', '?dryRun=1']) expect(refusal(await call('DELETE', `${website}/owner${query}`))).toEqual(none);
    expect((await call('PATCH', website, admin, { clientId: null })).status).toBe(200);
    expect((await transfer(ben)).status).toBe(200);
  });

  test('of an archived website can be taken away', async () => {
    await call('PATCH', website, admin, { clientId: await clientOf(ana) });
    await call('POST', `${website}/archive`);
    expect((await call('DELETE', `${website}/owner`)).status).toBe(204);
  });
});

describe('billing at Stripe', () => {
  test('after a change of owner is all there for the admin, and each owner’s own for them', async () => {
    const { website: claimed } = (await transfer(ana)).body as { website: { clientId: string } };
    await transfer(ben);
    await eventually('the cancellation', isEnded(idOfWebsite(), 0));
    const [first, second] = subscriptionsOf(idOfWebsite()).map(
      ({ id }) => stripe.invoices.find((one) => one.subscription === id)?.id,
    );
    expect((await call('GET', `${website}/billing`)).body).toMatchObject({
      subscription: { status: 'active' },
      previousSubscriptions: [{ status: 'canceled' }],
      invoices: [{ id: second }, { id: first }],
    });
    const { body } = await call('GET', `${website}/billing`, ben.token);
    expect(body).toMatchObject({ subscription: { status: 'active' }, invoices: [{ id: second }] });
    expect(body).not.toHaveProperty('previousSubscriptions');

    const { clientId } = claimed;
    expect((await call('GET', `/invoices?ids=${second},unknown`)).body).toMatchObject([{ id: second }]);
    expect(refusal(await call('GET', '/invoices?count=true'))).toEqual([
      400,
      'Invalid query — count: invoices in stripe cannot be counted',
    ]);
    expect((await call('GET', `/invoices?clientId=${clientId}`)).body).toMatchObject([
      { id: first, clientId, websiteId: idOfWebsite() },
    ]);
    expect((await call('GET', `/invoices?websiteId=${idOfWebsite()}&sort=createdAt`)).body).toMatchObject([
      { id: first },
      { id: second },
    ]);
  });

  test('a page of invoices after one that was deleted is refused, with what to do', async () => {
    const gone: Payments = { ...payments, listInvoices: () => Promise.reject(new InvoicePlaceGone()) };
    const other = await startApi({ payments: gone });
    const cursor = Buffer.from('-createdAt.1.in_gone').toString('base64url');
    expect(refusal(await other.call('GET', `/invoices?cursor=${cursor}`, { token: await other.mintToken() }))).toEqual([
      400,
      'Invalid query — cursor: begins after an invoice that was deleted; read the list from its start',
    ]);
  });

  test('an invoice is read by its id, however many its subscription has', async () => {
    await transfer(ana);
    const [subscription] = subscriptionsOf(idOfWebsite());
    const added = Array.from({ length: 150 }, () => stripe.addInvoice(subscription?.id ?? ''));
    const [{ id } = { id: '' }] = added;
    const before = stripe.exchanges.length;
    expect((await call('GET', `${website}/billing/invoices/${id}`, ana.token)).body).toMatchObject({ id });
    expect(stripe.exchanges.slice(before).map(({ request }) => request.path)).toEqual([`/v1/invoices/${id}`]);
  });

  test('an open invoice is voided; one that was paid meanwhile, or is another website’s, is not', async () => {
    await transfer(ana);
    const [subscription] = subscriptionsOf(idOfWebsite());
    const [open, paid] = [stripe.addInvoice(subscription?.id ?? ''), stripe.addInvoice(subscription?.id ?? '')];
    const sendVoid = (id: string, at = website) => call('POST', `${at}/billing/invoices/${id}/void`);
    const voided = await sendVoid(open.id);
    expect(voided.body).toMatchObject({ id: open.id, status: 'void', url: expect.stringContaining('https://') });
    expect((await sendVoid(open.id)).body).toEqual(voided.body);
    paid.status = 'paid';
    expect(refusal(await sendVoid(paid.id))).toEqual([400, `Invoice ${paid.id} is paid`]);
    const elsewhere = `/websites/${await newWebsite()}`;
    expect(refusal(await sendVoid(open.id, elsewhere))).toEqual([404, `Invoice ${open.id} not found`]);
  });

  test('an open invoice of an erased client is voided without its text, and the answer is given again', async () => {
    const { website: claimed } = (await transfer(ana)).body as { website: { clientId: string } };
    const [subscription] = subscriptionsOf(idOfWebsite());
    const open = stripe.addInvoice(subscription?.id ?? '');
    open.description = 'For Ana, as agreed';
    expect((await call('DELETE', `/clients/${claimed.clientId}`)).status).toBe(204);
    const sendVoid = () =>
      api.call('POST', `${website}/billing/invoices/${open.id}/void`, {
        token: admin,
        headers: { 'idempotency-key': open.id },
      });
    const voided = await sendVoid();
    expect(voided.body).toMatchObject({ id: open.id, status: 'void', description: '[erased]' });
    const again = await sendVoid();
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([voided.text, 'true']);
  });

  test('an invoice that Stripe fails to void stays open, and the answer says so', async () => {
    await transfer(ana);
    const [subscription] = subscriptionsOf(idOfWebsite());
    const open = stripe.addInvoice(subscription?.id ?? '');
    const sendVoid = () => call('POST', `${website}/billing/invoices/${open.id}/void`);
    stripe.failing = 1;
    expect(refusal(await sendVoid())).toEqual([502, 'stripe refused: An unknown error occurred']);
    expect(open.status).toBe('open');
    expect((await sendVoid()).body).toMatchObject({ id: open.id, status: 'void' });
  });
});

describe('a transfer that names a subscription', () => {
  const words = (issue: string) => [400, `Invalid request body — subscription: ${issue}`];

  test('attaches it and its customer on the claim; no other one is made', async () => {
    const { id, customer } = stripe.addSubscription('billing@company.example');
    const before = [stripe.subscriptions.length, stripe.customers.length];
    const offered = await offer(ana, { subscription: id });
    expect(offered.status).toBe(201);
    const { body } = await claim((offered.body as { id: string }).id, ana);
    expect(body).toMatchObject({ website: { billing: 'subscribed' } });
    const { clientId } = (body as { website: { clientId: string } }).website;
    expect([stripe.subscriptions.length, stripe.customers.length]).toEqual(before);
    expect(subscriptionsOf(idOfWebsite())).toMatchObject([{ id, metadata: { doorstep_client: clientId } }]);
    expect(stripe.customers.find((one) => one.id === customer)?.metadata).toEqual({ doorstep_client: clientId });
    expect((await call('GET', `${website}/billing`, ana.token)).body).toMatchObject({
      subscription: { id },
      invoices: [{ websiteId: idOfWebsite(), clientId }],
    });
    const portal = await call('POST', `${website}/billing/portal`, ana.token);
    expect(portal.body).toEqual({ url: `https://portal.example/${customer}` });

    // It has become the website's, and ends with the ownership.
    await call('DELETE', `${website}/owner`);
    await eventually('the cancellation', isEnded(idOfWebsite(), 0));
  });

  test('opens its customer’s portal to nobody while the claim has not come through, or came to nothing', async () => {
    const clientId = await clientOf(ana);
    const { id } = stripe.addSubscription('billing@company.example');
    const { body } = await offer(ana, { subscription: id });
    stripe.failing = Infinity;
    expect((await claim((body as { id: string }).id, ana)).status).toBe(502);
    stripe.failing = 0;
    await call('PATCH', website, admin, { clientId });
    const portal = await call('POST', `${website}/billing/portal`, ana.token);
    expect(refusal(portal)).toEqual([404, `Billing for website ${idOfWebsite()} is not set up`]);
    await eventually('its end', async () => {
      const { state } = await api.engine.state(billingFold, { websiteId: idOfWebsite() });
      return [...state.accounts.values()].every(({ stage }) => stage === 'ended') ? true : undefined;
    });
    expect((await call('POST', `${website}/billing/portal`, ana.token)).status).toBe(404);
    expect(stripe.subscriptions.find((one) => one.id === id)).toMatchObject({ status: 'active', metadata: {} });
  });

  test('that is unknown, cancelled or another website’s is refused with words', async () => {
    expect(refusal(await offer(ana, { subscription: 'sub_none' }))).toEqual(words('subscription sub_none does not exist'));
    const cancelled = stripe.addSubscription('a@company.example');
    cancelled.status = 'canceled';
    expect(refusal(await offer(ana, { subscription: cancelled.id }))).toEqual(words(`subscription ${cancelled.id} has ended`));
    await transfer(ana);
    const [own] = subscriptionsOf(idOfWebsite());
    website = `/websites/${await newWebsite()}`;
    for (const query of ['', '?dryRun=1']) {
      const answer = await call('POST', `${website}/transfers${query}`, admin, { email: ana.email, subscription: own?.id });
      expect(refusal(answer)).toEqual(words(`subscription ${own?.id ?? ''} belongs to another website`));
    }
    expect((await call('GET', `${website}/transfers`)).body).toEqual([]);
  });

  test('that is cancelled, or attached elsewhere, between offer and claim is refused at the claim', async () => {
    const { id } = stripe.addSubscription('b@company.example');
    const offers = [await offer(ana, { subscription: id })];
    const first = website;
    website = `/websites/${await newWebsite()}`;
    offers.push(await offer(ben, { subscription: id }));
    const [toAna, toBen] = offers.map(({ body }) => (body as { id: string }).id);
    expect((await claim(toBen, ben)).status).toBe(200);
    expect(refusal(await claim(toAna, ana))).toEqual([400, `Subscription ${id} belongs to another website`]);
    const { body } = await call('GET', first);
    expect(body).not.toHaveProperty('clientId');
    expect(stripe.subscriptions.find((one) => one.id === id)).toMatchObject({
      status: 'active',
      metadata: { doorstep_website: idOfWebsite() },
    });

    // Offered anew without it, the claim makes one of its own.
    website = first;
    expect((await transfer(ana)).status).toBe(200);
    expect(subscriptionsOf(idOfWebsite())).toHaveLength(1);
  });
});
