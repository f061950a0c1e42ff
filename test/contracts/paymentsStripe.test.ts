import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Payer, Payments, SubscriptionRequest } from '../../src/integrations/payments/port.js';
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
const confirm = (): void => undefined;

const TIMES = 50;
const begunAt = systemClock.now();
/** On which time passes fifty times as fast, and the hour too. */
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
const wishFor = (customerId: string): SubscriptionRequest => ({
  customerId,
  clientId: ada.clientId,
  websiteId: 'site',
  claim: 'claim',
});
const permanent = { name: 'ProviderFault', provider: 'stripe', transient: false };
const transient = { name: 'ProviderFault', provider: 'stripe', transient: true };

paymentsContract('Stripe', async () => {
  const { payments, fake } = await open();
  return { payments, priceId: fake.priceId };
});

let stripe: Opened;
beforeAll(async () => {
  stripe = await open();
});

describe('what is made', () => {
  test('is marked as ours, and needs no card: the owner is sent invoices', async () => {
    const { id } = await stripe.payments.createCustomer(ada, confirm);
    const { id: subscriptionId } = await stripe.payments.createSubscription(wishFor(id), confirm);
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

  test('is read with its invoices, but for drafts', async () => {
    const { payments, fake } = stripe;
    const [customer, subscription] = [fake.customers[0]?.id, fake.subscriptions[0]?.id ?? ''];
    const account = { websiteId: 'site', clientId: ada.clientId, customerId: customer, subscriptionId: subscription };
    const [invoice] = fake.invoices;
    if (invoice === undefined) throw new Error('no invoice');
    const before = await payments.readBilling(account);
    expect(before.subscription).toMatchObject({ priceId: 'price_monthly', currentPeriodEndsAt: expect.stringMatching(/Z$/) });
    expect(before.invoices).toMatchObject([
      { id: invoice.id, number: `DOOR-${invoice.id}`, status: 'open', total: 2_900, amountPaid: 0, currency: 'eur' },
    ]);
    invoice.status = 'paid';
    expect((await payments.readBilling(account)).invoices).toMatchObject([{ status: 'paid', paidAt: expect.any(String) }]);
    invoice.status = 'draft';
    expect((await payments.readBilling(account)).invoices).toEqual([]);
  });

  test('and was deleted at Stripe is made anew, although Stripe would repeat the old answer for a day', async () => {
    const { payments, fake } = await open();
    const { id } = await payments.createCustomer(ada, confirm);
    for (const customer of fake.customers) customer.deleted = true;
    expect(await payments.findCustomer({ ...ada, customerId: id })).toBeNull();
    const { id: next } = await payments.createCustomer(ada, confirm);
    expect(next).not.toBe(id);
    expect(await payments.findCustomer(ada)).toEqual({ id: next });
  });

  test('under another name meanwhile is no reason to make it twice', async () => {
    const { payments, fake } = await open();
    const { id } = await payments.createCustomer(ada, confirm);
    expect(await payments.createCustomer({ ...ada, name: 'Ada Lovelace' }, confirm)).toEqual({ id });
    expect(fake.customers).toHaveLength(1);
  });

  test('is found among more than a page of customers with that address', async () => {
    const { payments, fake } = await open();
    const { id } = await payments.createCustomer(ada, confirm);
    fake.addStrangers(ada.email, 120);
    expect(fake.customers).toHaveLength(121);
    expect(await payments.findCustomer(ada)).toEqual({ id });
  });
});

describe('what Stripe once answered', () => {
  test('was a fault: it is looked for, and made under another key', async () => {
    const { payments, fake } = await open();
    fake.failing = 1;
    const { id } = await payments.createCustomer(ada, confirm);
    expect(fake.customers).toMatchObject([{ id }]);
  });

  test('was a refusal whose reason is gone: likewise', async () => {
    const { payments, fake } = await open();
    const { id } = await payments.createCustomer(ada, confirm);
    fake.prices.clear();
    await expect(payments.createSubscription(wishFor(id), confirm)).rejects.toMatchObject({
      ...permanent,
      message: "No such price: 'price_monthly'",
    });
    fake.prices.add('price_monthly');
    await expect(payments.createSubscription(wishFor(id), confirm)).resolves.toMatchObject({ status: 'active' });
    expect(fake.subscriptions).toHaveLength(1);
  });

  test('over and over is given up in words', async () => {
    const { payments, fake } = await open();
    fake.failing = 99;
    await expect(payments.createCustomer(ada, confirm)).rejects.toMatchObject({
      ...permanent,
      message: expect.stringContaining('old answers'),
    });
  });
});

describe('a refusal', () => {
  test('is told in words that hold no address and no key', async () => {
    const { payments, lines } = await open();
    await expect(payments.createCustomer({ ...ada, email: 'nonsense' }, confirm)).rejects.toMatchObject({
      ...permanent,
      message: 'Invalid email address: nonsense',
    });
    const wrong = await open({ secretKey: 'sk_test_wrong' });
    await expect(wrong.payments.createCustomer(ada, confirm)).rejects.toMatchObject({
      ...permanent,
      message: 'The credentials for stripe are refused, or do not suffice',
    });
    const written = lines.concat(wrong.lines).join('');
    expect(written).toContain('req_1');
    expect(written).not.toMatch(/sk_test|ada@/);
  });

  test('comes before Stripe is asked when there is no price at all', async () => {
    const { payments, served } = await open({ priceId: null });
    await expect(payments.createSubscription(wishFor('cus_1'), confirm)).rejects.toMatchObject(permanent);
    expect(await payments.hasPrice(undefined)).toBe(false);
    expect(served.requests).toHaveLength(0);
    expect(await payments.hasPrice('price_yearly')).toBe(true);
    expect(await payments.hasPrice('price_unknown')).toBe(false);
  });
});

describe.each(troubleKinds)('trouble on the wire: %s', (what: TroubleKind) => {
  const passes = !['429', 'page', 'nonsense'].includes(what);

  test('a creation whose answer is lost leaves one customer and one subscription, however often it is asked for', async () => {
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
    const { id } = await troubled(() => payments.createCustomer(ada, confirm));
    const subscription = await troubled(() => payments.createSubscription(wishFor(id), confirm));
    served.trouble();
    expect(fake.customers).toMatchObject([{ id }]);
    expect(fake.subscriptions).toMatchObject([{ id: subscription.id }]);
    await troubled(() => payments.endSubscription(subscription.id));
    expect(fake.subscriptions).toMatchObject([{ status: 'canceled' }]);
    expect(lines.join('')).not.toMatch(/canary|ada@/);
  });

  test('that goes on is a fault that passes, with the time to wait where one is told', async () => {
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
