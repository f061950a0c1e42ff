import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  InvoicePlaceGone,
  type InvoicePlace,
  type Payer,
  type Payments,
  type SubscriptionRequest,
} from '../../src/integrations/payments/port.js';
import { createStripePayments } from '../../src/integrations/payments/stripe.js';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { hastyClock } from '../support/provider.js';
import { createStripeFake, type StripeFake } from '../support/providers/stripeFake.js';
import { hasStripeJudge, judgeStripe } from '../support/providers/stripeJudge.js';
import { serveFake, troubleKinds, type ServedFake, type TroubleKind } from '../support/providers/wire.js';
import { paymentsContract } from './payments.contract.js';

interface Opened {
  readonly payments: Payments;
  readonly fake: StripeFake;
  readonly served: ServedFake;
  readonly lines: string[];
}

const fakes: StripeFake[] = [];
const assertHeld = (): void => undefined;

const TIMES = 50;
const begunAt = systemClock.now();
/** A clock that runs fifty times as fast. */
const hasty: Clock = { ...hastyClock(TIMES), now: () => begunAt + (systemClock.now() - begunAt) * TIMES };

const open = async (options: { secretKey?: string; priceId?: string | null; timeoutMs?: number } = {}): Promise<Opened> => {
  const fake = createStripeFake();
  fakes.push(fake);
  const served = await serveFake(fake.provider);
  const lines: string[] = [];
  const payments = createStripePayments({
    secretKey: options.secretKey ?? fake.secretKey,
    priceId: options.priceId === null ? undefined : (options.priceId ?? fake.priceId),
    apiUrl: served.url,
    clock: hasty,
    random: systemRandom,
    logger: createLogger({ level: 'debug', destination: { write: (line: string) => void lines.push(line) } }),
    timeoutMs: options.timeoutMs ?? 250_000,
  });
  return { payments, fake, served, lines };
};

const ada: Payer = { clientId: 'client-ada', email: 'ada@example.com', name: 'Ada' };
const requestFor = (customerId: string): SubscriptionRequest => ({
  customerId,
  clientId: ada.clientId,
  websiteId: 'site',
  claim: 'claim',
});
const permanent = { name: 'ProviderFault', provider: 'stripe', transient: false };
const transient = { name: 'ProviderFault', provider: 'stripe', transient: true };

paymentsContract('Stripe', async () => {
  const { payments, fake } = await open();
  let count = 0;
  return {
    payments,
    priceId: fake.priceId,
    otherPriceId: 'price_yearly',
    addInvoice: ({ id }) => {
      const invoice = fake.addInvoice(id);
      count += 1;
      if (count % 3 === 0) invoice.due = null;
      return Promise.resolve(invoice.id);
    },
    payInvoice: (id) => {
      for (const invoice of fake.invoices) if (invoice.id === id) invoice.status = 'paid';
      return Promise.resolve();
    },
  };
});

let stripe: Opened;
beforeAll(async () => {
  stripe = await open();
});

describe('a created object', () => {
  test('has our metadata, and is paid by invoice, without a card', async () => {
    const { id } = await stripe.payments.createCustomer(ada, assertHeld);
    const { id: subscriptionId } = await stripe.payments.createSubscription(requestFor(id), assertHeld);
    expect(stripe.fake.customers).toMatchObject([{ id, name: 'Ada', metadata: { doorstep_client: 'client-ada' } }]);
    expect(stripe.fake.subscriptions).toMatchObject([
      {
        id: subscriptionId,
        price: 'price_monthly',
        collectionMethod: 'send_invoice',
        metadata: { doorstep_client: 'client-ada', doorstep_website: 'site' },
      },
    ]);
  });

  test('is read with its invoices except drafts', async () => {
    const { payments, fake } = stripe;
    const [customerId = '', id = ''] = [fake.customers[0]?.id, fake.subscriptions[0]?.id];
    const of = { id, websiteId: 'site', clientId: ada.clientId, customerId };
    const list = async () =>
      (await payments.listInvoices({ sort: '-createdAt', limit: 10, subscriptions: () => Promise.resolve([of]) })).items;
    const [invoice] = fake.invoices;
    if (invoice === undefined) throw new Error('no invoice');
    const [subscription] = await payments.readSubscriptions([of]);
    expect(subscription).toMatchObject({ priceId: 'price_monthly', currentPeriodEndsAt: expect.stringMatching(/Z$/) });
    expect(await list()).toMatchObject([
      { id: invoice.id, number: `DOOR-${invoice.id}`, status: 'open', total: 2_900, amountPaid: 0, currency: 'eur' },
    ]);
    invoice.status = 'paid';
    expect(await list()).toMatchObject([{ status: 'paid', paidAt: expect.any(String) }]);
    invoice.status = 'draft';
    expect(await list()).toEqual([]);
  });

  test('that was deleted at Stripe is created again, although Stripe replays the old response for a day', async () => {
    const { payments, fake } = await open();
    const { id } = await payments.createCustomer(ada, assertHeld);
    for (const customer of fake.customers) customer.deleted = true;
    expect(await payments.findCustomer({ ...ada, customerId: id })).toBeNull();
    const { id: next } = await payments.createCustomer(ada, assertHeld);
    expect(next).not.toBe(id);
    expect(await payments.findCustomer(ada)).toEqual({ id: next });
  });

  test('whose name has changed meanwhile is not created twice', async () => {
    const { payments, fake } = await open();
    const { id } = await payments.createCustomer(ada, assertHeld);
    expect(await payments.createCustomer({ ...ada, name: 'Ada Lovelace' }, assertHeld)).toEqual({ id });
    expect(fake.customers).toHaveLength(1);
  });

  test('is found among more than a page of customers with that address', async () => {
    const { payments, fake } = await open();
    const { id } = await payments.createCustomer(ada, assertHeld);
    fake.addStrangers(ada.email, 120);
    expect(fake.customers).toHaveLength(121);
    expect(await payments.findCustomer(ada)).toEqual({ id });
  });
});

test('the invoices of many subscriptions are found among any number of others, in pages that may be short', async () => {
  const { payments, fake, served } = await open();
  const { id: customerId } = await payments.createCustomer(ada, assertHeld);
  const { id: otherCustomer } = await payments.createCustomer({ ...ada, clientId: 'other', email: 'o@example.com' }, assertHeld);
  const made = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const [websiteId, customer] = [`site-${String(index)}`, index === 0 ? otherCustomer : customerId];
      const request = { customerId: customer, clientId: ada.clientId, websiteId, claim: websiteId };
      return {
        ...(await payments.createSubscription(request, assertHeld)),
        websiteId,
        clientId: ada.clientId,
        customerId: customer,
      };
    }),
  );
  for (let index = 0; index < 1_200; index += 1) fake.addInvoice('sub_of_another_business');
  fake.addInvoice(made[3]?.id ?? '');
  const all = { limit: 15, subscriptions: () => Promise.resolve(made) };
  const pages: (readonly [number, boolean])[] = [];
  const seen = new Set<string>();
  for (let after: InvoicePlace | undefined; ;) {
    const { items, next } = await payments.listInvoices({ ...all, sort: '-createdAt', after });
    for (const { id } of items) seen.add(id);
    pages.push([items.length, next !== undefined]);
    if (next === undefined) break;
    after = next;
  }
  expect(pages).toEqual([
    [1, true],
    [15, true],
    [5, false],
  ]);
  expect(seen.size).toBe(21);
  const oldest = await payments.listInvoices({ ...all, sort: 'createdAt' });
  expect(oldest).toMatchObject({ next: { id: oldest.items[14]?.id } });

  const ofOne = made.filter((one) => one.customerId === customerId);
  const before = served.requests.length;
  const { items } = await payments.listInvoices({ sort: '-createdAt', limit: 50, subscriptions: () => Promise.resolve(ofOne) });
  expect([items.length, served.requests.length - before]).toEqual([20, 1]);
});

describe('a list of which an invoice is deleted between two pages', () => {
  const many = async () => {
    const opened = await open();
    const { payments } = opened;
    const { id: customerId } = await payments.createCustomer(ada, assertHeld);
    const made = Array.from({ length: 13 }, (_, index) => {
      const websiteId = `site-${String(index)}`;
      return payments.createSubscription({ ...requestFor(customerId), websiteId, claim: websiteId }, assertHeld);
    });
    const subscriptions = (await Promise.all(made)).map(({ id }) => ({ id, websiteId: id, clientId: ada.clientId, customerId }));
    const query = { limit: 5, sort: '-createdAt' as const, subscriptions: () => Promise.resolve(subscriptions) };
    return { ...opened, subscriptions, query };
  };

  test('is not taken for one that has ended: whoever asks has to begin again', async () => {
    const { payments, fake, query } = await many();
    const { items, next } = await payments.listInvoices(query);
    expect([items.length, next?.id]).toEqual([5, items[4]?.id]);
    fake.deleteInvoice(next?.id ?? '');
    await expect(payments.listInvoices({ ...query, after: next })).rejects.toBeInstanceOf(InvoicePlaceGone);
  });

  test('is a fault that passes while one page is put together', async () => {
    const { payments, fake, query, subscriptions, served } = await many();
    for (let index = 0; index < 200; index += 1) fake.addInvoice(subscriptions[0]?.id ?? '');
    served.trouble(({ query: asked }) => {
      fake.deleteInvoice(asked.get('starting_after') ?? '');
      return undefined;
    });
    await expect(payments.listInvoices({ ...query, limit: 150 })).rejects.toMatchObject(transient);
    served.trouble();
    expect((await payments.listInvoices({ ...query, limit: 150 })).items).toHaveLength(150);
  });
});

test('a customer whom Stripe does not know has no subscription', async () => {
  const { payments } = await open();
  expect(await payments.findSubscription('cus_unknown', 'site')).toBeNull();
});

describe('a subscription that somebody made at Stripe', () => {
  const free = async () => {
    const opened = await open();
    const subscription = opened.fake.addSubscription('ada@example.com');
    const request = { subscriptionId: subscription.id, websiteId: 'site', clientId: ada.clientId };
    return { ...opened, subscription, request };
  };
  const marks = { doorstep_client: ada.clientId, doorstep_website: 'site' };

  test('is attached by its metadata, its customer too, and then found like one of ours', async () => {
    const { payments, fake, subscription, request } = await free();
    const { customer } = subscription;
    expect(await payments.checkAttachment(request)).toEqual({ customerId: customer });
    expect(await payments.attachSubscription(request, assertHeld)).toBe('attached');
    await payments.markCustomer(customer, ada.clientId);
    expect(fake.subscriptions).toMatchObject([{ id: subscription.id, status: 'active', metadata: marks }]);
    expect(fake.customers).toMatchObject([{ id: customer, metadata: { doorstep_client: ada.clientId } }]);
    expect(await payments.findCustomer(ada)).toEqual({ id: customer });
    expect(await payments.findSubscription(customer, 'site')).toMatchObject({ id: subscription.id });
  });

  test('becomes one website’s of many that ask at the same time', async () => {
    const { payments, subscription, request } = await free();
    const websites = Array.from({ length: 5 }, (_, index) => `site-${String(index)}`);
    const answers = await Promise.all(
      websites.map((websiteId) => payments.attachSubscription({ ...request, websiteId }, assertHeld)),
    );
    expect(answers.toSorted()).toEqual(['attached', ...Array<string>(4).fill('otherWebsite')]);
    expect(subscription.metadata.doorstep_website).toBe(websites[answers.indexOf('attached')]);
  });

  test('can be detached and attached again, also elsewhere, although Stripe replays old responses', async () => {
    const { payments, subscription, request } = await free();
    const elsewhere = { ...request, websiteId: 'other', clientId: 'client-ben' };
    for (const next of [request, request, elsewhere, request]) {
      expect(await payments.attachSubscription(next, assertHeld)).toBe('attached');
      expect(subscription.metadata.doorstep_website).toBe(next.websiteId);
      await payments.detachSubscription({ ...next, websiteId: 'a third one' });
      expect(subscription.metadata.doorstep_website).toBe(next.websiteId);
      await payments.detachSubscription(next);
      expect(subscription).toMatchObject({ status: 'active', metadata: {} });
    }
  });

  test('of a customer that is another client, or was deleted, is not attached', async () => {
    const { payments, fake, subscription, request } = await free();
    await payments.markCustomer(subscription.customer, 'client-ben');
    expect(await payments.attachSubscription(request, assertHeld)).toBe('otherClient');
    for (const customer of fake.customers) customer.deleted = true;
    expect(await payments.attachSubscription(request, assertHeld)).toBe('ended');
    expect(subscription.metadata).toEqual({});
  });
});

describe('a response that Stripe replays', () => {
  test('a fault: the object is searched for, then created with another key', async () => {
    const { payments, fake } = await open();
    fake.failing = 1;
    const { id } = await payments.createCustomer(ada, assertHeld);
    expect(fake.customers).toMatchObject([{ id }]);
  });

  test('a refusal whose cause is gone: likewise', async () => {
    const { payments, fake } = await open();
    const { id } = await payments.createCustomer(ada, assertHeld);
    fake.prices.clear();
    await expect(payments.createSubscription(requestFor(id), assertHeld)).rejects.toMatchObject({
      ...permanent,
      message: "No such price: 'price_monthly'",
    });
    fake.prices.add('price_monthly');
    await expect(payments.createSubscription(requestFor(id), assertHeld)).resolves.toMatchObject({ status: 'active' });
    expect(fake.subscriptions).toHaveLength(1);
  });

  test('again and again: it gives up with a clear message', async () => {
    const { payments, fake } = await open();
    fake.failing = 99;
    await expect(payments.createCustomer(ada, assertHeld)).rejects.toMatchObject({
      ...permanent,
      message: expect.stringContaining('old answers'),
    });
  });
});

describe('a refusal', () => {
  test('has a message without an address or a key', async () => {
    const { payments, lines } = await open();
    await expect(payments.createCustomer({ ...ada, email: 'nonsense' }, assertHeld)).rejects.toMatchObject({
      ...permanent,
      message: 'Invalid email address: nonsense',
    });
    const wrong = await open({ secretKey: 'sk_test_wrong' });
    await expect(wrong.payments.createCustomer(ada, assertHeld)).rejects.toMatchObject({
      ...permanent,
      message: 'The credentials for stripe are refused, or do not suffice',
    });
    const written = lines.concat(wrong.lines).join('');
    expect(written).toContain('req_1');
    expect(written).not.toMatch(/sk_test|ada@/);
  });

  test('happens without a request when there is no price', async () => {
    const { payments, served } = await open({ priceId: null });
    await expect(payments.createSubscription(requestFor('cus_1'), assertHeld)).rejects.toMatchObject(permanent);
    expect(await payments.hasPrice(undefined)).toBe(false);
    expect(served.requests).toHaveLength(0);
    expect(await payments.hasPrice('price_yearly')).toBe(true);
    expect(await payments.hasPrice('price_unknown')).toBe(false);
    expect(await payments.readPrice(undefined)).toBeNull();
    expect(await payments.readPrice('price_unknown')).toBeNull();
    const yearly = { id: 'price_yearly', amount: 2_900, currency: 'eur', interval: 'month' };
    expect(await payments.readPrice('price_yearly')).toEqual(yearly);
  });
});

describe.each(troubleKinds)('trouble on the wire: %s', (what: TroubleKind) => {
  const passes = !['429', 'page', 'nonsense'].includes(what);

  test('a creation whose response is lost leaves one customer and one subscription, however often it is retried', async () => {
    const { payments, fake, served, lines } = await open({ timeoutMs: 5_000 });
    const troubled = async <Made>(make: () => Promise<Made>): Promise<Made> => {
      served.trouble(({ method }, index) => (method !== 'GET' && index === 0 ? { when: 'after', what } : undefined));
      const first = make();
      if (passes) return first;
      await expect(first).rejects.toMatchObject(transient);
      served.trouble();
      // As long as a limit lasts.
      await new Promise<void>((resolve) => hasty.schedule(7_500, resolve));
      return make();
    };
    const { id } = await troubled(() => payments.createCustomer(ada, assertHeld));
    const subscription = await troubled(() => payments.createSubscription(requestFor(id), assertHeld));
    served.trouble();
    expect(fake.customers).toMatchObject([{ id }]);
    expect(fake.subscriptions).toMatchObject([{ id: subscription.id }]);
    await troubled(() => payments.endSubscription(subscription.id));
    expect(fake.subscriptions).toMatchObject([{ status: 'canceled' }]);
    expect(lines.join('')).not.toMatch(/canary|ada@/);
  });

  test('that goes on is a transient fault, with the time to wait if Stripe gives one', async () => {
    const { payments, served } = await open({ timeoutMs: 5_000 });
    served.trouble(() => ({ when: 'before', what }));
    await expect(payments.findCustomer(ada)).rejects.toMatchObject({
      ...transient,
      ...(what === '429' && { retryAfterMs: 7_000 }),
      ...((what === 'silence' || what === 'drip') && { cause: expect.objectContaining({ name: 'TimeoutError' }) }),
    });
  });
});

(hasStripeJudge ? test : test.skip)(
  'in all of that, Stripe was asked and answered nothing that its description does not have (skipped where test/support/stripe/install was not run)',
  async () => {
    const complaints = await Promise.all(fakes.map((fake) => judgeStripe(fake)));
    expect(fakes.flatMap(({ exchanges }) => exchanges).length).toBeGreaterThan(100);
    expect([...new Set(complaints.flat())]).toEqual([]);
  },
);
