import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Customer, Payer, Payments, Subscription } from '../../src/integrations/payments/port.js';

const assertHeld = (): void => undefined;

/** What an adapter provides to the suite. */
export interface PaymentsUnderTest {
  readonly payments: Payments;
  /** The price of a subscription. */
  readonly priceId: string;
}

/** The contract of every payment provider (`src/integrations/payments/port.ts`). */
export const paymentsContract = (adapter: string, open: () => Promise<PaymentsUnderTest>): void => {
  describe(`payments: ${adapter}`, () => {
    let under: PaymentsUnderTest;
    let payments: Payments;
    let count = 0;
    beforeAll(async () => {
      under = await open();
      ({ payments } = under);
    });

    const somebody = (): Payer => {
      count += 1;
      return { clientId: `client-${count}`, email: `client-${count}@example.com`, name: 'Ada' };
    };
    const subscribe = async (payer: Payer, websiteId: string, claim: string): Promise<[Customer, Subscription]> => {
      const customer = await payments.createCustomer(payer, assertHeld);
      const { clientId } = payer;
      return [customer, await payments.createSubscription({ customerId: customer.id, clientId, websiteId, claim }, assertHeld)];
    };

    test('a customer is found once created, and creating it again creates no second', async () => {
      const payer = somebody();
      const customer = await payments.createCustomer(payer, assertHeld);
      expect(await payments.findCustomer(payer)).toEqual(customer);
      expect(await payments.findCustomer({ ...payer, customerId: customer.id })).toEqual(customer);
      expect(await payments.createCustomer(payer, assertHeld)).toEqual(customer);
    });

    test('concurrent creations of one client’s customer all return the same', async () => {
      const payer = somebody();
      const made = await Promise.all(Array.from({ length: 5 }, () => payments.createCustomer(payer, assertHeld)));
      expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    });

    test('two clients with the same address are two customers', async () => {
      const [one, other] = [somebody(), somebody()];
      const first = await payments.createCustomer(one, assertHeld);
      const second = await payments.createCustomer({ ...other, email: one.email }, assertHeld);
      expect(second.id).not.toBe(first.id);
      expect(await payments.findCustomer(one)).toEqual(first);
    });

    test('a subscription is found by customer and website, and by no others', async () => {
      const payer = somebody();
      const [{ id: customerId }, subscription] = await subscribe(payer, 'site-1', 'claim-1');
      expect(subscription).toMatchObject({ status: 'active' });
      expect(await payments.findSubscription(customerId, 'site-1')).toEqual(subscription);
      expect(await payments.findSubscription(customerId, 'site-2')).toBeNull();
      const stranger = await payments.createCustomer(somebody(), assertHeld);
      expect(await payments.findSubscription(stranger.id, 'site-1')).toBeNull();
    });

    test('creating it again for the same claim, also concurrently, creates one; another website gets another', async () => {
      const payer = somebody();
      const { id: customerId } = await payments.createCustomer(payer, assertHeld);
      const request = { customerId, clientId: payer.clientId, websiteId: 'site-3', claim: 'claim-3', priceId: under.priceId };
      const made = await Promise.all([
        payments.createSubscription(request, assertHeld),
        payments.createSubscription(request, assertHeld),
      ]);
      expect(new Set(made.map(({ id }) => id)).size).toBe(1);
      expect(made[0].priceId).toBe(under.priceId);
      const other = await payments.createSubscription({ ...request, websiteId: 'site-4', claim: 'claim-4' }, assertHeld);
      expect(other.id).not.toBe(made[0].id);
    });

    test('an ended subscription is not found and stays ended; the same claim then creates a new one', async () => {
      const payer = somebody();
      const [{ id: customerId }, first] = await subscribe(payer, 'site-5', 'claim-5');
      await payments.endSubscription(first.id);
      await payments.endSubscription(first.id);
      expect(await payments.findSubscription(customerId, 'site-5')).toBeNull();
      const account = { websiteId: 'site-5', clientId: payer.clientId, customerId, subscriptionId: first.id };
      const { subscription } = await payments.readBilling(account);
      expect(subscription).toMatchObject({ id: first.id, status: 'canceled', canceledAt: expect.any(String) });

      const [, second] = await subscribe(payer, 'site-5', 'claim-5');
      expect(second.id).not.toBe(first.id);
      expect(second.status).toBe('active');
      expect(await payments.findSubscription(customerId, 'site-5')).toEqual(second);
    });

    test('ending an unknown subscription changes nothing', async () => {
      await expect(payments.endSubscription('unknown')).resolves.toBeUndefined();
    });

    test('billing is current, and empty for an owner without a subscription', async () => {
      const payer = somebody();
      const [{ id: customerId }, { id: subscriptionId }] = await subscribe(payer, 'site-6', 'claim-6');
      const { clientId } = payer;
      const billing = await payments.readBilling({ websiteId: 'site-6', clientId, customerId, subscriptionId });
      expect(billing.subscription).toMatchObject({ id: subscriptionId, status: 'active', createdAt: expect.any(String) });
      expect(await payments.readBilling({ websiteId: 'site-7', clientId })).toEqual({ subscription: null, invoices: [] });
    });

    test('the portal has an address', async () => {
      const payer = somebody();
      const { id: customerId } = await payments.createCustomer(payer, assertHeld);
      const link = await payments.portalLink(
        { websiteId: 'site-8', clientId: payer.clientId, customerId },
        'https://a.example/b',
      );
      expect(link).toMatch(/^https:\/\//);
    });

    test('a price that exists can be subscribed to', async () => {
      expect(await payments.hasPrice(under.priceId)).toBe(true);
      expect(await payments.hasPrice(undefined)).toBe(true);
    });
  });
};
