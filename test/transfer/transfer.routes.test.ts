import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { accessStream, keyOfInvitation } from '../../src/events/access/access.stream.js';
import type { Payments } from '../../src/integrations/payments/port.js';
import { createStripePayments } from '../../src/integrations/payments/stripe.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { createTransferWorker } from '../../src/workers/transfer/transferWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { hastyClock } from '../support/provider.js';
import { createStripeFake, type StripeFake } from '../support/providers/stripeFake.js';
import { serveFake, type ServedFake } from '../support/providers/wire.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { partsOf } from '../support/process.js';

jest.setTimeout(60_000);

let api: RunningApi;
let admin: string;
let stripe: StripeFake;
let served: ServedFake;
let payments: Payments;
let worker: Worker;
let count = 0;

const openStripe = (apiUrl: string): Payments =>
  createStripePayments({
    secretKey: stripe.secretKey,
    priceId: stripe.priceId,
    apiUrl,
    clock: hastyClock(),
    random: systemRandom,
    logger: createLogger({ level: 'silent' }),
  });

beforeAll(async () => {
  stripe = createStripeFake();
  served = await serveFake(stripe.provider);
  payments = openStripe(served.url);
  api = await startApi({ payments });
  admin = await api.mintToken();
});

let websiteId: string;
let ana: { readonly email: string; readonly token: string };
beforeEach(async () => {
  count += 1;
  const { body } = await call('POST', '/websites', admin, { name: 'Bakery', slug: `bakery-${count}` });
  websiteId = (body as { id: string }).id;
  ana = await somebody(`ana-${count}`);
  worker = createTransferWorker({ ...partsOf(api.engine), payments });
  await worker.start();
});
afterEach(async () => {
  served.trouble();
  await worker.stop();
});

const call = (method: string, path: string, token: string, body?: unknown): Promise<ApiAnswer> =>
  api.call(method, path, { token, ...(body !== undefined && { body }) });
const somebody = async (name: string) => {
  const email = `${name}@example.com`;
  return { email, token: await api.mintToken({ role: 'client', subject: name, verifiedEmail: email }) };
};
const offer = (body: object = { email: ana.email }) => call('POST', `/websites/${websiteId}/transfers`, admin, body);
const offered = async (): Promise<string> => ((await offer()).body as { id: string }).id;
const claim = (id: string, token = ana.token) => call('POST', `/invitations/${id}/claim`, token);
const refusal = ({ status, body }: ApiAnswer) => [status, (body as { error: string }).error];
const notFound = [404, 'Pending transfer not found'];
const ownerId = async () => ((await call('GET', `/websites/${websiteId}`, admin)).body as { clientId?: string }).clientId;

/** Of the person to whom the offer was made. */
const eventsOf = async (invitationId: string) => {
  const key = keyOfInvitation(invitationId);
  return key === null ? [] : (await api.engine.eventStore.readStream(accessStream.name(key))).events;
};

/** The page that an answer links to. */
const nextOf = ({ headers }: ApiAnswer): string => /\/v1([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? 'none';

describe('an offer', () => {
  test('answers with the address to hand over, and asks for no mail', async () => {
    const { status, body } = await offer({ email: ana.email.toUpperCase() });
    const { id } = body as { id: string };
    expect(status).toBe(201);
    expect(body).toMatchObject({
      kind: 'ownership_transfer',
      status: 'pending',
      websiteId,
      email: ana.email,
      claimUrl: `${api.url}/app/invitations/${id}`,
    });
    expect(await eventsOf(id)).toMatchObject([{ type: 'InvitationIssued', data: { sendMail: false } }]);
    expect((await call('GET', `/websites/${websiteId}/clients`, admin)).body).toMatchObject({ invitations: [] });
  });

  test('made again is renewed on the terms asked for now; the mail goes out when it is asked for', async () => {
    const id = await offered();
    const again = await offer({ email: ana.email, priceId: 'price_yearly', sendEmail: true });
    expect([again.status, (again.body as { id: string }).id]).toEqual([200, id]);
    expect((await eventsOf(id))[1]).toMatchObject({
      type: 'InvitationRenewed',
      data: { sendMail: true, priceId: 'price_yearly' },
    });
  });

  test('is listed until it is cancelled, which happens once', async () => {
    const [id, other] = [await offered(), ((await offer({ email: 'other@example.com' })).body as { id: string }).id];
    const list = () => call('GET', `/websites/${websiteId}/transfers`, admin);
    expect((await list()).body).toMatchObject([{ id: other }, { id, claimUrl: expect.stringContaining(id) }]);
    const firstPage = await call('GET', `/websites/${websiteId}/transfers?limit=1`, admin);
    expect(firstPage.body).toMatchObject([{ id: other }]);
    expect(firstPage.headers.get('link')).toContain('rel="next"');
    expect((await call('DELETE', `/websites/${websiteId}/transfers/${id}`, admin)).status).toBe(204);
    expect((await list()).body).toMatchObject([{ id: other }]);
    expect((await call('GET', nextOf(firstPage), admin)).body).toEqual([]);
    expect(refusal(await call('DELETE', `/websites/${websiteId}/transfers/${id}`, admin))).toEqual(notFound);
    expect(refusal(await call('DELETE', `/websites/${websiteId}/transfers/unknown`, admin))).toEqual(notFound);
    // A page goes on after the last one of the page before, also when that has been cancelled
    // since.
    expect((await call('DELETE', `/websites/${websiteId}/transfers/${other}`, admin)).status).toBe(204);
    expect((await call('GET', nextOf(firstPage), admin)).body).toEqual([]);
    const newer = await offered();
    expect((await list()).body).toMatchObject([{ id: newer }]);
    expect((await call('GET', nextOf(firstPage), admin)).body).toEqual([]);
    expect(refusal(await claim(id))).toEqual(notFound);
    expect(refusal(await call('GET', `/invitations/${id}`, ana.token))).toEqual(notFound);
  });

  test('is no invitation for access: the routes of those leave it alone', async () => {
    const id = await offered();
    const path = `/websites/${websiteId}/client-invitations/${id}`;
    expect(refusal(await call('POST', `${path}/resend`, admin))).toEqual([404, `Invitation ${id} not found`]);
    expect(refusal(await call('DELETE', path, admin))).toEqual([404, `Invitation ${id} not found`]);
    expect((await call('GET', `/invitations/${id}`, ana.token)).body).toMatchObject({ websiteName: 'Bakery' });
  });

  test('at a price that there is not is refused, before anything is written', async () => {
    expect(refusal(await offer({ email: ana.email, priceId: 'price_unknown' }))).toEqual([
      400,
      'Invalid request body — priceId: price price_unknown does not exist',
    ]);
    expect((await call('GET', `/websites/${websiteId}/transfers`, admin)).body).toEqual([]);
  });

  test('to the owner is refused', async () => {
    await claim(await offered());
    expect(refusal(await offer())).toEqual([400, 'Client already owns this website']);
  });
});

test('an assignment of the owner withdraws every open offer, the new owner’s too', async () => {
  const [id, toOwner] = [await offered(), ((await offer({ email: 'owner@example.com' })).body as { id: string }).id];
  const { body } = await call('POST', '/clients', admin, { email: `owner-${count}@example.com` });
  const clientId = (body as { id: string }).id;
  const planned = await call('PATCH', `/websites/${websiteId}?dryRun=1`, admin, { clientId });
  const types = (planned.body as { events: { type: string }[] }).events.map(({ type }) => type);
  expect(types).toEqual(['WebsiteOwnerAssigned', 'InvitationRevoked', 'InvitationRevoked']);
  expect((await call('PATCH', `/websites/${websiteId}`, admin, { clientId })).status).toBe(200);
  expect((await call('GET', `/websites/${websiteId}/transfers`, admin)).body).toEqual([]);
  expect(refusal(await claim(id))).toEqual(notFound);
  expect((await eventsOf(toOwner)).map(({ type }) => type)).toEqual(['InvitationIssued', 'InvitationRevoked']);
  expect(await ownerId()).toBe(clientId);
});

describe('a claim', () => {
  test('makes the caller the owner, with a customer and a subscription, and answers the same again', async () => {
    await call('POST', `/websites/${websiteId}/clients`, admin, { email: ana.email, role: 'viewer' });
    const before = stripe.customers.length;
    const id = await offered();
    const { status, body } = await claim(id);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      invitation: { id, status: 'accepted' },
      website: { id: websiteId, via: 'owner', role: 'editor' },
    });
    expect((body as { website: { clientId: string } }).website.clientId).toBe(await ownerId());
    expect(stripe.customers.slice(before)).toMatchObject([{ email: ana.email }]);
    const [customer] = stripe.customers.slice(before);
    expect(stripe.subscriptions.filter(({ customer: whose }) => whose === customer?.id)).toMatchObject([
      { price: 'price_monthly' },
    ]);
    expect((await claim(id)).body).toEqual(body);
    expect(refusal(await call('DELETE', `/websites/${websiteId}/transfers/${id}`, admin))).toEqual(notFound);
    expect((await call('GET', `/websites/${websiteId}/clients`, admin)).body).toMatchObject({ links: [] });
  });

  test('leaves no subscription to the log behind', async () => {
    const watches: AbortSignal[] = [];
    const own = await startApi({
      payments,
      instrument: (eventStore) => ({
        ...eventStore,
        subscribe: (options) => {
          // Workers and read models take some events only.
          if (options.filter === undefined) watches.push(options.signal);
          return eventStore.subscribe(options);
        },
      }),
    });
    const ownWorker = createTransferWorker({ ...partsOf(own.engine), payments });
    await ownWorker.start();
    const token = await own.mintToken();
    const website = (await own.call('POST', '/websites', { token, body: { name: 'Bakery', slug: 'bakery' } })).body;
    const path = `/websites/${(website as { id: string }).id}/transfers`;
    const { id } = (await own.call('POST', path, { token, body: { email: ana.email } })).body as { id: string };
    const claimant = await own.mintToken({ role: 'client', subject: 'ana', verifiedEmail: ana.email });
    const { status } = await own.call('POST', `/invitations/${id}/claim`, { token: claimant });
    await ownWorker.stop();
    expect([status, watches.map(({ aborted }) => aborted)]).toEqual([200, [true]]);
  });

  test('by somebody else, or of an archived website, is refused and asks Stripe nothing', async () => {
    const id = await offered();
    const requests = served.requests.length;
    const stranger = await somebody(`stranger-${count}`);
    const refused = await claim(id, stranger.token);
    expect(refusal(refused)).toEqual([403, 'Not authorized to claim this invitation']);
    expect(refused.body).toMatchObject({ details: { signedInAs: stranger.email } });
    await call('POST', `/websites/${websiteId}/archive`, admin);
    expect(refusal(await claim(id))).toEqual([400, `Website ${websiteId} is archived`]);
    expect(served.requests).toHaveLength(requests);
  });

  test('of two people at once makes one of them the owner; the other finds nothing, and no offer is left open', async () => {
    const ben = await somebody(`ben-${count}`);
    const [first, second] = [await offered(), ((await offer({ email: ben.email })).body as { id: string }).id];
    const answers = await Promise.all([claim(first), claim(second, ben.token)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    const won = answers.findIndex(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 404).map(refusal)).toEqual([notFound]);
    const { website } = answers[won]?.body as { website: { clientId: string } };
    expect(await ownerId()).toBe(website.clientId);
    expect((await call('GET', `/websites/${websiteId}/transfers`, admin)).body).toMatchObject([
      { id: [first, second][won], status: 'accepted' },
    ]);
    const [winner, loser] = won === 0 ? [ana, ben] : [ben, ana];
    expect(refusal(await claim([second, first][won] ?? '', loser.token))).toEqual(notFound);
    expect((await claim([first, second][won] ?? '', winner.token)).status).toBe(200);
  });

  test('by somebody whose subject is known by another address makes that client the owner', async () => {
    const { body } = await call('POST', `/websites/${websiteId}/clients`, admin, { email: ana.email, role: 'viewer' });
    const linked = await claim((body as { invitation: { id: string } }).invitation.id);
    const { clientId } = (linked.body as { link: { clientId: string } }).link;
    const email = `ana-${count}@work.example`;
    const atWork = await api.mintToken({ role: 'client', subject: `ana-${count}`, verifiedEmail: email });
    const { id } = (await offer({ email })).body as { id: string };
    expect((await claim(id, atWork)).body).toMatchObject({ invitation: { id, email }, website: { clientId, via: 'owner' } });
    expect((await call('GET', `/websites/${websiteId}/clients`, admin)).body).toMatchObject({
      owner: { id: clientId },
      links: [],
    });
  });

  test('once the website went on to somebody else is answered as over', async () => {
    const id = await offered();
    await claim(id);
    const ben = await somebody(`ben-${count}`);
    const next = ((await offer({ email: ben.email })).body as { id: string }).id;
    expect((await claim(next, ben.token)).status).toBe(200);
    expect(refusal(await claim(id))).toEqual(notFound);
    expect(refusal(await call('GET', `/websites/${websiteId}/billing`, ana.token))).toEqual([
      403,
      `Not authorized to access website ${websiteId}`,
    ]);
  });

  test('while Stripe asks to wait for an hour is answered in its name at once, and the website stays where it is', async () => {
    const busy = await serveFake(() => ({ status: 429, body: {}, headers: { 'retry-after': '3600' } }));
    const other = openStripe(busy.url);
    const id = await offered();
    await worker.stop();
    worker = createTransferWorker({ ...partsOf(api.engine), payments: other });
    await worker.start();
    expect(refusal(await claim(id))).toEqual([503, 'stripe cannot be asked right now']);
    expect(busy.requests).toHaveLength(1);
    expect(await ownerId()).toBeUndefined();
    expect((await call('DELETE', `/websites/${websiteId}/transfers/${id}`, admin)).status).toBe(204);
  });

  test('that Stripe refuses says so, and the offer stands', async () => {
    const id = await offered();
    stripe.prices.delete('price_monthly');
    try {
      expect(refusal(await claim(id))).toEqual([502, 'stripe refused. Ask the agency to look into it.']);
    } finally {
      stripe.prices.add('price_monthly');
    }
    expect(await ownerId()).toBeUndefined();
    expect((await claim(id)).status).toBe(200);
  });

  test('tried out writes and asks nothing', async () => {
    const id = await offered();
    const requests = served.requests.length;
    const { status, body } = await call('POST', `/invitations/${id}/claim?dryRun=1`, ana.token);
    expect(status).toBe(200);
    expect((body as { events: { type: string }[] }).events.map(({ type }) => type)).toContain('TransferClaimed');
    expect(served.requests).toHaveLength(requests);
    expect(await ownerId()).toBeUndefined();
  });
});

describe('billing', () => {
  const billing = (token: string) => call('GET', `/websites/${websiteId}/billing`, token);
  const portal = (token: string) => call('POST', `/websites/${websiteId}/billing/portal`, token);

  test('is what Stripe has now, for the owner and admins; the portal for the owner alone', async () => {
    await claim(await offered());
    const { status, body } = await billing(ana.token);
    expect(status).toBe(200);
    expect(body).toMatchObject({ subscription: { status: 'active', priceId: 'price_monthly' }, invoices: [{ status: 'open' }] });
    expect((await billing(admin)).body).toEqual(body);
    expect((await portal(ana.token)).body).toEqual({ url: expect.stringMatching(/^https:\/\/portal\.example\/cus_/) });
    const forbidden = [403, `Not authorized to access website ${websiteId}`];
    expect(refusal(await portal(admin))).toEqual(forbidden);
    const ben = await somebody(`ben-${count}`);
    const { invitation } = (await call('POST', `/websites/${websiteId}/clients`, admin, { email: ben.email, role: 'editor' }))
      .body as { invitation: { id: string } };
    await claim(invitation.id, ben.token);
    const refused = await billing(ben.token);
    expect(refusal(refused)).toEqual(forbidden);
    expect(refused.body).toMatchObject({ details: { reason: "Billing is the owner's" } });
    expect(refusal(await portal(ben.token))).toEqual(forbidden);
  });

  test('of an owner by assignment is empty, and has no portal', async () => {
    const { body } = await call('POST', '/clients', admin, { email: ana.email });
    await call('PATCH', `/websites/${websiteId}`, admin, { clientId: (body as { id: string }).id });
    expect((await billing(ana.token)).body).toEqual({ subscription: null, invoices: [] });
    expect(refusal(await portal(ana.token))).toEqual([404, `Billing for website ${websiteId} is not set up`]);
  });

  test('while Stripe is away is answered in its name', async () => {
    await claim(await offered());
    served.trouble(() => ({ when: 'before', what: 'silence' }));
    expect(refusal(await billing(ana.token))).toEqual([504, 'stripe did not answer in time']);
  });

  test('with Stripe knows no invoices written by hand', async () => {
    expect((await call('POST', `/websites/${websiteId}/billing/invoices`, admin, {})).status).toBe(404);
  });
});
