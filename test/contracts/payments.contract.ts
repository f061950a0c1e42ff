import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Customer, Payer, Payments, Subscription } from '../../src/integrations/payments/port.js';

const confirm = (): void => undefined;

/** What an adapter brings to the suite. */
export interface PaymentsUnderTest {
  readonly payments: Payments;
  /** Of a subscription. */
  readonly priceId: string;
}

/** What every payment provider promises (`src/integrations/payments/port.ts`). */
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
      const customer = await payments.createCustomer(payer, confirm);
      const { clientId } = payer;
      return [customer, await payments.createSubscription({ customerId: customer.id, clientId, websiteId, claim }, confirm)];
    };

    test('a customer is found once it is made, and making it again makes no second', async () => {
      const payer = somebody();
      const customer = await payments.createCustomer(payer, confirm);
      expect(await payments.findCustomer(payer)).toEqual(customer);
      expect(await payments.findCustomer({ ...payer, customerId: customer.id })).toEqual(customer);
      expect(await payments.createCustomer(payer, confirm)).toEqual(customer);
    });

    test('of many who make the customer of one client at once, all get the same', async () => {
      const payer = somebody();
      const made = await Promise.all(Array.from({ length: 5 }, () => payments.createCustomer(payer, confirm)));
      expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    });

    test('a client is another customer than somebody else, whatever address they share', async () => {
      const [one, other] = [somebody(), somebody()];
      const first = await payments.createCustomer(one, confirm);
      const second = await payments.createCustomer({ ...other, email: one.email }, confirm);
      expect(second.id).not.toBe(first.id);
      expect(await payments.findCustomer(one)).toEqual(first);
    });

    test('a subscription is found by customer and website, and by no others', async () => {
      const payer = somebody();
      const [{ id: customerId }, subscription] = await subscribe(payer, 'site-1', 'claim-1');
      expect(subscription).toMatchObject({ status: 'active' });
      expect(await payments.findSubscription(customerId, 'site-1')).toEqual(subscription);
      expect(await payments.findSubscription(customerId, 'site-2')).toBeNull();
      const stranger = await payments.createCustomer(somebody(), confirm);
      expect(await payments.findSubscription(stranger.id, 'site-1')).toBeNull();
    });

    test('made again for the same claim, also at once, there is one; for another website there is another', async () => {
      const payer = somebody();
      const { id: customerId } = await payments.createCustomer(payer, confirm);
      const wish = { customerId, clientId: payer.clientId, websiteId: 'site-3', claim: 'claim-3', priceId: under.priceId };
      const made = await Promise.all([payments.createSubscription(wish, confirm), payments.createSubscription(wish, confirm)]);
      expect(new Set(made.map(({ id }) => id)).size).toBe(1);
      expect(made[0].priceId).toBe(under.priceId);
      const other = await payments.createSubscription({ ...wish, websiteId: 'site-4', claim: 'claim-4' }, confirm);
      expect(other.id).not.toBe(made[0].id);
    });

    test('a subscription that has ended is not found, and stays ended; the same claim then makes a new one', async () => {
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

    test('ending what nobody knows changes nothing', async () => {
      await expect(payments.endSubscription('unknown')).resolves.toBeUndefined();
    });

    test('billing is what stands there now; of an owner without a subscription, nothing', async () => {
      const payer = somebody();
      const [{ id: customerId }, { id: subscriptionId }] = await subscribe(payer, 'site-6', 'claim-6');
      const { clientId } = payer;
      const billing = await payments.readBilling({ websiteId: 'site-6', clientId, customerId, subscriptionId });
      expect(billing.subscription).toMatchObject({ id: subscriptionId, status: 'active', createdAt: expect.any(String) });
      expect(await payments.readBilling({ websiteId: 'site-7', clientId })).toEqual({ subscription: null, invoices: [] });
    });

    test('the portal leads somewhere', async () => {
      const payer = somebody();
      const { id: customerId } = await payments.createCustomer(payer, confirm);
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
