import { beforeAll, describe, expect, test } from '@jest/globals';
import type {
  Customer,
  Invoice,
  InvoicePage,
  InvoiceQuery,
  Payer,
  Payments,
  RecordedSubscription,
  Subscription,
} from '../../src/integrations/payments/port.js';

const assertHeld = (): void => undefined;

const recordedOf = ({ id }: Subscription, customerId: string, { clientId }: Payer, websiteId: string): RecordedSubscription => ({
  id,
  websiteId,
  clientId,
  customerId,
});

/** What an adapter provides to the suite. */
export interface PaymentsUnderTest {
  readonly payments: Payments;
  /** The price of a subscription. */
  readonly priceId: string;
  readonly otherPriceId: string;
  /** Bills the subscription once more; every other time with a due date. @returns the invoice's id */
  addInvoice(of: RecordedSubscription): Promise<string>;
  payInvoice(invoiceId: string): Promise<void>;
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
      expect(await payments.readSubscriptions([recordedOf(first, customerId, payer, 'site-5')])).toMatchObject([
        { id: first.id, status: 'canceled', canceledAt: expect.any(String) },
      ]);

      const [, second] = await subscribe(payer, 'site-5', 'claim-5');
      expect(second.id).not.toBe(first.id);
      expect(second.status).toBe('active');
      expect(await payments.findSubscription(customerId, 'site-5')).toEqual(second);
    });

    test('after its end the same claim creates one at another price', async () => {
      const payer = somebody();
      const { id: customerId } = await payments.createCustomer(payer, assertHeld);
      const request = { customerId, clientId: payer.clientId, websiteId: 'site-14', claim: 'claim-14' };
      const first = await payments.createSubscription(request, assertHeld);
      await payments.endSubscription(first.id);
      const { otherPriceId: priceId } = under;
      const second = await payments.createSubscription({ ...request, priceId }, assertHeld);
      expect([second.id === first.id, second.status, second.priceId]).toEqual([false, 'active', priceId]);
    });

    test('what cannot be attached says why; what is the client’s already can be, again and again', async () => {
      const payer = somebody();
      const [{ id: customerId }, { id: subscriptionId }] = await subscribe(payer, 'site-12', 'claim-12');
      const own = { subscriptionId, websiteId: 'site-12', clientId: payer.clientId };
      expect(await payments.checkAttachment(own)).toEqual({ customerId });
      expect(await payments.checkAttachment({ ...own, clientId: undefined })).toEqual({ customerId });
      for (let time = 0; time < 2; time += 1) expect(await payments.attachSubscription(own, assertHeld)).toBe('attached');
      await payments.markCustomer(customerId, payer.clientId);
      expect(await payments.findSubscription(customerId, 'site-12')).toMatchObject({ id: subscriptionId });

      const refused = [
        ['unknown', { ...own, subscriptionId: 'unknown' }],
        ['otherWebsite', { ...own, websiteId: 'site-13' }],
        ['otherClient', { ...own, clientId: somebody().clientId }],
      ] as const;
      for (const [why, request] of refused) {
        expect(await payments.checkAttachment(request)).toBe(why);
        expect(await payments.attachSubscription(request, assertHeld)).toBe(why);
        // Nothing of somebody else's is detached.
        await payments.detachSubscription(request);
      }
      expect(await payments.findSubscription(customerId, 'site-12')).toMatchObject({ id: subscriptionId });
      await payments.endSubscription(subscriptionId);
      expect(await payments.checkAttachment(own)).toBe('ended');
    });

    test('ending an unknown subscription changes nothing', async () => {
      await expect(payments.endSubscription('unknown')).resolves.toBeUndefined();
    });

    test('subscriptions are read as they are now, in the order asked for, without unknown ones', async () => {
      const [ada, bob] = [somebody(), somebody()];
      const [{ id: adaCustomer }, one] = await subscribe(ada, 'site-6', 'claim-6');
      const [{ id: bobCustomer }, other] = await subscribe(bob, 'site-7', 'claim-7');
      await payments.endSubscription(one.id);
      const [ofAda, ofBob] = [recordedOf(one, adaCustomer, ada, 'site-6'), recordedOf(other, bobCustomer, bob, 'site-7')];
      expect(await payments.readSubscriptions([ofBob, { ...ofAda, id: 'unknown' }, ofAda])).toEqual([
        other,
        { ...one, status: 'canceled', canceledAt: expect.any(String) },
      ]);
      expect(await payments.readSubscriptions([])).toEqual([]);
    });

    describe('invoices', () => {
      const subscriptions: RecordedSubscription[] = [];
      const list = (query: Partial<InvoiceQuery>) => {
        const { websiteId, clientId } = query;
        const matching = subscriptions.filter(
          (one) => (websiteId ?? one.websiteId) === one.websiteId && (clientId ?? one.clientId) === one.clientId,
        );
        return payments.listInvoices({
          sort: '-createdAt',
          limit: 100,
          subscriptions: () => Promise.resolve(matching),
          ...query,
        });
      };
      /** All of them, read in pages. */
      const listed = async (query: Partial<InvoiceQuery>): Promise<readonly Invoice[]> => {
        const found: Invoice[] = [];
        for (let after: InvoiceQuery['after']; ;) {
          const page: InvoicePage = await list({ ...query, ...(after !== undefined && { after }) });
          expect(page.items.length).toBeLessThanOrEqual(query.limit ?? 100);
          found.push(...page.items);
          if (page.next === undefined) return found;
          after = page.next;
        }
      };
      const billed = async (websiteId: string, payer: Payer, times: number): Promise<readonly string[]> => {
        const [{ id: customerId }, { id }] = await subscribe(payer, websiteId, `claim-${websiteId}`);
        const of = { id, websiteId, clientId: payer.clientId, customerId };
        subscriptions.push(of);
        const ids: string[] = [];
        for (let time = 0; time < times; time += 1) ids.push(await under.addInvoice(of));
        return ids;
      };
      let first: readonly string[];
      let second: readonly string[];
      const [ada, ben] = [somebody(), somebody()];
      beforeAll(async () => {
        first = await billed('site-9', ada, 2);
        second = await billed('site-10', ben, 3);
        first = [...first, ...(await billed('site-11', ada, 1))];
      });
      const idsIn = (found: readonly Invoice[]) => found.map(({ id }) => id).filter((id) => [...first, ...second].includes(id));

      test('belong to a website and a client, newest first; sorted and in pages of any size they are the same', async () => {
        const newestFirst = [...first.slice(2), ...second.toReversed(), ...first.slice(0, 2).toReversed()];
        for (const limit of [1, 2, 100]) expect(idsIn(await listed({ limit }))).toEqual(newestFirst);
        for (const limit of [1, 2, 100]) {
          expect(idsIn(await listed({ limit, sort: 'createdAt' }))).toEqual(newestFirst.toReversed());
        }
        const [dueFirst, dueLast] = [await listed({ limit: 2, sort: 'dueAt' }), await listed({ limit: 3, sort: '-dueAt' })];
        expect(idsIn(dueFirst).toSorted()).toEqual(newestFirst.toSorted());
        const datesOf = (found: readonly Invoice[]) => found.flatMap(({ dueAt }) => dueAt ?? []);
        expect(datesOf(dueFirst)).toEqual(datesOf(dueFirst).toSorted());
        expect(datesOf(dueLast)).toEqual(datesOf(dueFirst).toReversed());
        expect(datesOf(dueFirst).length).toBeGreaterThan(3);

        expect(idsIn(await listed({ websiteId: 'site-10', limit: 2 }))).toEqual(second.toReversed());
        expect(idsIn(await listed({ clientId: ada.clientId, limit: 2 }))).toEqual(first.toReversed());
        expect(await listed({ clientId: ben.clientId, websiteId: 'site-9' })).toEqual([]);
        const [newest] = (await list({ websiteId: 'site-10' })).items;
        expect(newest).toMatchObject({ websiteId: 'site-10', clientId: ben.clientId, status: 'open', amountPaid: 0 });
      });

      test('are read by their ids, in their order, without those that there are not', async () => {
        const of = { subscriptions: () => Promise.resolve(subscriptions) };
        const named = [first[2] ?? '', 'unknown', second[0] ?? '', first[0] ?? ''];
        const found = await payments.readInvoices(named, of);
        expect(found.map(({ id }) => id)).toEqual(named.filter((id) => id !== 'unknown'));
        expect(found[1]).toEqual((await listed({ websiteId: 'site-10' })).find(({ id }) => id === second[0]));
        expect(await payments.readInvoices([], of)).toEqual([]);
      });

      test('are void once voided, and read of their own website alone', async () => {
        const [id = ''] = second;
        const at = (websiteId: string) => ({
          websiteId,
          subscriptions: () => Promise.resolve(subscriptions.filter((one) => one.websiteId === websiteId)),
        });
        expect(await payments.readInvoices([id], at('site-9'))).toEqual([]);
        const [found] = await payments.readInvoices([id], at('site-10'));
        if (found === undefined) throw new Error('there is no invoice');
        const voided = await payments.voidInvoice(found);
        expect(voided).toEqual({ ...found, status: 'void', voidedAt: expect.any(String) });
        expect(await payments.voidInvoice(found)).toEqual(voided);
        expect(idsIn((await list({ status: 'void' })).items)).toEqual([id]);
        expect(idsIn((await list({ status: 'open', websiteId: 'site-10' })).items)).toEqual(second.slice(1).toReversed());
      });

      test('that were paid stay paid', async () => {
        const [, id = ''] = second;
        const found = (await list({})).items.find((one) => one.id === id);
        if (found === undefined) throw new Error('there is no invoice');
        await under.payInvoice(id);
        expect(await payments.voidInvoice(found)).toMatchObject({ id, status: 'paid', paidAt: expect.any(String) });
      });
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
      expect(await payments.readPrice(under.priceId)).toMatchObject({ id: under.priceId });
      expect(await payments.readPrice(undefined)).not.toBeNull();
    });
  });
};
