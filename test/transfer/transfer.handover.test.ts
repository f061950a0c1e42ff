import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { drawUpHandover, type HandoverFacts } from '../../src/events/billing/handover.js';
import { createStripePayments } from '../../src/integrations/payments/stripe.js';
import type { Payments } from '../../src/integrations/payments/port.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { createTransferWorker } from '../../src/workers/transfer/transferWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { eventually } from '../support/eventually.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { partsOf } from '../support/process.js';
import { hastyClock } from '../support/provider.js';
import { createStripeFake, type StripeFake } from '../support/providers/stripeFake.js';
import { serveFake, type ServedFake } from '../support/providers/wire.js';

jest.setTimeout(60_000);

describe('drawing up', () => {
  const plain: HandoverFacts = {
    isExpired: false,
    isArchived: false,
    isActive: true,
    openCheckpoints: 0,
    domains: 0,
    unverifiedDomains: 0,
    links: 0,
    isRecipientLinked: false,
    isRecipientKnown: true,
    otherOffers: 0,
    isOwnerSubscribed: false,
    isAttached: true,
    areTermsValid: true,
  };
  const always = { moves: ['ownership', 'billing_account', 'subscription', 'billing_portal'], missing: [] };
  const drawn = (facts: Partial<HandoverFacts>) => {
    const { moves, stays, missing } = drawUpHandover({ ...plain, ...facts });
    const text = ({ item, count }: { item: string; count?: number }) => (count === undefined ? item : `${item} ${String(count)}`);
    return { moves: moves.map(text), stays: stays.map(text), missing: missing.map(text) };
  };

  test.each<[string, Partial<HandoverFacts>, object]>([
    ['nothing special', {}, { stays: ['site', 'repository', 'hosting', 'documents', 'delivery'] }],
    ['links', { links: 2 }, { stays: expect.arrayContaining(['links 2']) }],
    [
      'domains',
      { domains: 3, unverifiedDomains: 1 },
      { stays: expect.arrayContaining(['domains 3']), missing: ['unverified_domains 1'] },
    ],
    ['a link of the recipient', { isRecipientLinked: true }, { moves: [...always.moves, 'own_link'] }],
    ['a subscription of the owner', { isOwnerSubscribed: true }, { moves: [...always.moves, 'previous_subscription'] }],
    ['other offers', { otherOffers: 1 }, { moves: [...always.moves, 'other_offers 1'] }],
    ['an open delivery', { openCheckpoints: 6 }, { missing: ['delivery 6'] }],
    ['no delivery', { openCheckpoints: undefined }, { missing: ['delivery_not_set_up'] }],
    ['a website that is not ready', { isActive: false, isArchived: true }, { missing: ['archived', 'provisioning'] }],
    ['an offer that has expired', { isExpired: true }, { missing: ['expired'] }],
    ['a stranger', { isRecipientKnown: false }, { missing: ['recipient'] }],
    ['a subscription that is not there', { areTermsValid: false }, { missing: ['attachment'] }],
    ['a new subscription', { isAttached: false }, { missing: ['payment_method'] }],
    ['a price that is not there', { isAttached: false, areTermsValid: false }, { missing: ['price', 'payment_method'] }],
    ['terms that nobody asked about', { areTermsValid: undefined }, {}],
  ])('%s', (_, facts, expected) => {
    expect(drawn(facts)).toMatchObject({ ...always, ...expected });
  });
});

interface Ledger {
  readonly status: string;
  readonly drawnUpAt?: string;
  readonly completedAt?: string;
  readonly moves: readonly { readonly item: string; readonly doneAt?: string; readonly what: string }[];
  readonly stays: readonly { readonly item: string; readonly count?: number; readonly what: string }[];
  readonly pays: readonly { readonly who: string; readonly from?: string; readonly until?: string }[];
  readonly missing: readonly { readonly item: string; readonly what: string }[];
}

const itemsOf = (entries: readonly { readonly item: string }[]): readonly string[] => entries.map(({ item }) => item);

describe.each(['Stripe', 'the embedded ledger'] as const)('with %s', (provider) => {
  let api: RunningApi;
  let admin: string;
  let stripe: StripeFake;
  let served: ServedFake;
  let worker: Worker;
  let count = 0;
  let websiteId: string;
  let ana: { readonly email: string; readonly token: string };

  beforeAll(async () => {
    stripe = createStripeFake();
    served = await serveFake(stripe.provider);
    const ofStripe = createStripePayments({
      secretKey: stripe.secretKey,
      priceId: stripe.priceId,
      apiUrl: served.url,
      clock: hastyClock(),
      random: systemRandom,
      logger: createLogger({ level: 'silent' }),
    });
    let payments: Payments | undefined;
    const { createRoutes } = await import('../../src/http/routes/index.js');
    api = await startApi({
      ...(provider === 'Stripe' && { payments: ofStripe }),
      routes: (parts) => {
        ({ payments } = parts);
        return createRoutes(parts);
      },
    });
    if (payments === undefined) throw new Error('there are no payments');
    admin = await api.mintToken();
    worker = createTransferWorker({ ...partsOf(api.engine), payments });
    await worker.start();
  });
  afterAll(() => worker.stop());

  const call = (method: string, path: string, token: string, body?: unknown): Promise<ApiAnswer> =>
    api.call(method, path, { token, ...(body !== undefined && { body }) });
  const somebody = async (name: string) => {
    const email = `${name}-${String(count)}@example.com`;
    return { email, token: await api.mintToken({ role: 'client', subject: email, verifiedEmail: email }) };
  };
  const made = async (path: string, body: unknown): Promise<string> => {
    const answer = await call('POST', path, admin, body);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
    return (answer.body as { id: string }).id;
  };
  const offer = (body: object = {}) => made(`/websites/${websiteId}/transfers`, { email: ana.email, ...body });
  const read = (transferId: string, token = admin) => call('GET', `/websites/${websiteId}/transfers/${transferId}/ledger`, token);
  const ledgerOf = async (transferId: string, token = admin): Promise<Ledger> => {
    const { status, body, text } = await read(transferId, token);
    if (status !== 200) throw new Error(text);
    return body as Ledger;
  };
  const claim = async (transferId: string, token = ana.token): Promise<void> => {
    const { status, text } = await call('POST', `/invitations/${transferId}/claim`, token);
    expect([status, text]).toEqual([200, expect.any(String)]);
  };

  beforeEach(async () => {
    count += 1;
    websiteId = await made('/websites', { name: 'Bakery', slug: `bakery-${String(count)}` });
    ana = await somebody('ana');
  });

  test('before the claim it is as of now; from the claim on it is a record, with the time of each item', async () => {
    const transferId = await offer();
    const before = await ledgerOf(transferId);
    expect(before).toMatchObject({ status: 'open', email: ana.email, transferId, websiteId });
    expect(itemsOf(before.moves)).toEqual(['ownership', 'billing_account', 'subscription', 'billing_portal']);
    expect(itemsOf(before.missing)).toEqual(['provisioning', 'delivery_not_set_up', 'recipient', 'payment_method']);
    const price = { id: stripe.priceId, amount: 2_900, currency: 'eur', interval: 'month' };
    expect(before.pays).toEqual([
      { who: 'agency', what: expect.any(String) },
      { who: 'new_owner', what: expect.any(String), ...(provider === 'Stripe' && { price }) },
    ]);

    await call('PUT', `/websites/${websiteId}/delivery`, admin, {});
    const editor = await somebody('editor');
    await made('/clients', { email: editor.email });
    await call('POST', `/websites/${websiteId}/clients`, admin, { email: editor.email, role: 'editor' });
    const now = await ledgerOf(transferId);
    expect(now.stays).toContainEqual({ item: 'links', count: 1, what: '1 linked client keeps the access that they have.' });
    expect(now.missing).toContainEqual({ item: 'delivery', count: 6, what: '6 checkpoints of the delivery are open.' });

    await claim(transferId);
    const record = await ledgerOf(transferId);
    expect(record).toMatchObject({ status: 'completed', drawnUpAt: expect.any(String), completedAt: expect.any(String) });
    const { drawnUpAt = '', completedAt = '' } = record;
    for (const { item, doneAt = '' } of record.moves) {
      expect([item, doneAt >= drawnUpAt && doneAt <= completedAt]).toEqual([item, true]);
    }
    const since = record.moves.find(({ item }) => item === 'subscription')?.doneAt;
    expect(record.pays).toMatchObject([
      { who: 'agency', until: since },
      { who: 'new_owner', from: since, ...(provider === 'Stripe' && { price }) },
    ]);
    // The price too is as it was at the claim, whatever the provider has now.
    stripe.prices.delete(stripe.priceId);
    try {
      expect(await ledgerOf(transferId)).toEqual(record);
    } finally {
      stripe.prices.add(stripe.priceId);
    }

    // It is frozen: what comes later is another matter.
    for (const id of ['kickoff', 'qa']) {
      await call('PUT', `/websites/${websiteId}/delivery/checkpoints/${id}`, admin, { status: 'done' });
    }
    expect(await ledgerOf(transferId)).toEqual(record);
    expect(await ledgerOf(transferId, ana.token)).toEqual(record);
    expect(record.stays).toContainEqual(expect.objectContaining({ item: 'links', count: 1 }));
    expect(record.missing).toContainEqual(expect.objectContaining({ item: 'delivery', count: 6 }));
  });

  test('is for admins, the owner, and who is invited; nobody else', async () => {
    const owner = await somebody('owner');
    const clientId = await made('/clients', { email: owner.email });
    await call('PATCH', `/websites/${websiteId}`, admin, { clientId });
    const stranger = await somebody('stranger');
    const viewer = await somebody('viewer');
    await made('/clients', { email: viewer.email });
    await call('POST', `/websites/${websiteId}/clients`, admin, { email: viewer.email, role: 'viewer' });
    const rival = await somebody('rival');
    const [transferId, otherId] = [await offer(), await offer({ email: rival.email })];

    const statusFor = async (token: string, id = transferId): Promise<number> => (await read(id, token)).status;
    expect([await statusFor(admin), await statusFor(owner.token), await statusFor(ana.token)]).toEqual([200, 200, 200]);
    expect([await statusFor(stranger.token), await statusFor(viewer.token), await statusFor(rival.token)]).toEqual([
      403, 403, 403,
    ]);
    expect([await statusFor(ana.token, otherId), await statusFor(rival.token, otherId)]).toEqual([403, 200]);
    // How many others it is offered to is for admins.
    expect(itemsOf((await ledgerOf(transferId)).moves)).toContain('other_offers');
    expect(itemsOf((await ledgerOf(transferId, ana.token)).moves)).not.toContain('other_offers');

    const explained = await call('GET', `/websites/${websiteId}/access?email=${ana.email}`, admin);
    const operations = (explained.body as { areas: { operations: { operationId: string; rule: string }[] }[] }).areas;
    expect(operations.flatMap((area) => area.operations)).toContainEqual(
      expect.objectContaining({ operationId: 'getTransferLedger', allowed: true, rule: 'invitation' }),
    );

    await claim(transferId);
    expect(itemsOf((await ledgerOf(transferId)).moves)).toContain('other_offers');
    expect([await statusFor(ana.token), await statusFor(owner.token)]).toEqual([200, 403]);
    expect(await read(otherId)).toMatchObject({ status: 404, body: { error: 'Pending transfer not found' } });
    expect(await statusFor(rival.token, otherId)).toBe(403);
  });

  test('a withdrawn offer, an unknown one, one of another website, and an invitation that is none have no ledger', async () => {
    const transferId = await offer();
    await call('DELETE', `/websites/${websiteId}/transfers/${transferId}`, admin);
    expect((await read(transferId)).status).toBe(404);
    expect((await read(transferId, ana.token)).status).toBe(403);
    expect((await read('unknown')).status).toBe(404);
    const elsewhere = await offer();
    websiteId = await made('/websites', { name: 'Other', slug: `other-${String(count)}` });
    expect([(await read(elsewhere)).status, (await read(elsewhere, ana.token)).status]).toEqual([404, 403]);
    const { body } = await call('POST', `/websites/${websiteId}/clients`, admin, { email: ana.email, role: 'viewer' });
    const { invitation } = body as { invitation: { id: string } };
    expect([(await read(invitation.id)).status, (await read(invitation.id, ana.token)).status]).toEqual([404, 403]);
  });

  test('the end of what the owner before pays is its last item', async () => {
    await claim(await offer());
    const berta = await somebody('berta');
    const transferId = await offer({ email: berta.email });
    expect((await ledgerOf(transferId)).pays).toMatchObject([{ who: 'owner' }, { who: 'new_owner' }]);
    await claim(transferId, berta.token);
    const record = await eventually('the end of the subscription before', async () => {
      const ledger = await ledgerOf(transferId);
      const { doneAt } = ledger.moves.find(({ item }) => item === 'previous_subscription') ?? {};
      return doneAt === undefined ? undefined : { ...ledger, endedAt: doneAt };
    });
    expect(record.pays[0]).toMatchObject({ who: 'owner', until: record.endedAt });
    expect(record.endedAt >= (record.completedAt ?? '')).toBe(true);
  });

  test('while the payment provider is away, the ledger says so and is answered', async () => {
    const transferId = await offer();
    served.trouble(() => ({ when: 'before', what: '500' }));
    const { pays, missing } = await ledgerOf(transferId);
    served.trouble();
    // The embedded ledger is a file of ours.
    expect(pays[1]).toMatchObject({ who: 'new_owner', ...(provider === 'Stripe' && { priceUnavailable: true }) });
    expect(pays[1]).not.toHaveProperty('price');
    expect(itemsOf(missing)).not.toContain('price');
  });
});
