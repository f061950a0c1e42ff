import { noTargets } from '../support/erasable.js';
import { expect } from '@jest/globals';
import { accessFold, linkRole, type InvitationState } from '../../src/events/access/access.state.js';
import { keyOfInvitation } from '../../src/events/access/access.stream.js';
import { addClient, changeInvitation, offerTransfer, removeClient } from '../../src/commands/access/access.handlers.js';
import { claimInvitation } from '../../src/commands/access/claim.handlers.js';
import { createClient } from '../../src/commands/client/client.handlers.js';
import { eraseClient } from '../../src/commands/erasure/erasure.handlers.js';
import { changeWebsite, createWebsite } from '../../src/commands/website/website.handlers.js';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import { START, type StoredEvent } from '../../src/events/store/eventStore.js';
import type { Attachment, AttachmentRefusal, Payer, Payments, Subscription } from '../../src/integrations/payments/port.js';
import type { ListedDocument } from '../../src/projections/runner/readList.js';
import type { Reader } from '../../src/projections/reader.js';
import { websiteProjection } from '../../src/projections/website/website.projection.js';
import { billingFold, type BillingState } from '../../src/events/billing/billing.state.js';
import { createAccessWorker } from '../../src/workers/access/accessWorker.js';
import { createTransferWorker } from '../../src/workers/transfer/transferWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { someAdmin } from '../support/given.js';
import { createTestClock, type TestClock } from '../support/testClock.js';
import { partsOf, type TestProcess } from '../support/process.js';
import { engineOn } from '../workers/engines.js';
import { createMachine, passTimeUntil, stopInVirtualTime, type Machine, type Mishap } from '../workers/machine.js';
import { createMemoryStores } from '../workers/memoryStores.js';
import { directLine, type Line } from '../workers/remote.js';
import { billingStream } from '../../src/events/billing/billing.stream.js';

/** Lists as of now, folded from the log: the stores in memory have no read model. */
const listFrom =
  ({ eventStore, codec }: TestProcess): Reader['list'] =>
  async (projection, { where = {} }) => {
    const { events } = await eventStore.readAll({ after: START, filter: { types: projection.handles } });
    type Handled = Parameters<typeof projection.documentId>[0];
    const documents = new Map<string, ListedDocument<ReturnType<typeof projection.evolve>>>();
    for (const stored of events) {
      const event = codec.decode(stored) as Handled;
      const id = projection.documentId(event);
      const body = projection.evolve(documents.get(id)?.body ?? null, event);
      documents.set(id, { id, body, revision: event.revision, position: event.position });
    }
    const found = [...documents.values()].flatMap(({ body, ...document }) => (body === null ? [] : [{ ...document, body }]));
    return found.filter(({ body }) => Object.entries(where).every(([field, value]) => body[field] === value));
  };

/**
 * What stands at the payment provider. Unlike a real one it makes one more each time it is asked:
 * nothing hides a slip.
 */
interface Remote {
  readonly customers: { readonly id: string; clientId: string }[];
  readonly subscriptions: {
    readonly id: string;
    readonly customerId: string;
    /** Of one that was made by hand: empty. */
    clientId: string;
    websiteId: string;
    readonly priceId: string | undefined;
    live: boolean;
  }[];
}

/**
 * One website whose ownership is offered, on stores and a provider that machines come to and go
 * from, in virtual time.
 */
export interface TransferWorld {
  readonly clock: TestClock;
  readonly remote: Remote;
  readonly websiteId: string;
  readonly engine: TestProcess;
  /** Clients: the first owner, and to whom the website is offered. */
  readonly oldId: string;
  readonly newId: string;
  /** Offers the website to the person and gives the invitation's id. */
  offer(person?: string, priceId?: string, subscriptionId?: string): Promise<string>;
  /** A customer with a subscription that somebody made at the provider, and its id. */
  addSubscription(websiteId?: string): string;
  /** Resolves once the claim is begun. */
  claim(invitationId: string, person?: string): Promise<void>;
  cancel(invitationId: string): Promise<void>;
  assign(clientId: string): Promise<void>;
  /** As an erasure does it. */
  removeOwner(clientId: string): Promise<void>;
  erase(clientId: string): Promise<void>;
  archive(): Promise<void>;
  restore(): Promise<void>;
  link(person: string): Promise<void>;
  unlink(clientId: string): Promise<void>;
  /** Makes a client of the person and gives its id. */
  register(person: string): Promise<string>;
  /** A machine starts to work; `line` takes the place of its own. */
  start(plan?: ReadonlyMap<number, Mishap>, options?: { line?: Line }): Promise<Machine & Pick<Worker, 'stop'>>;
  /** Starts the worker that withdraws the offers that an assignment has overtaken. */
  startAccess(): Promise<void>;
  ownerId(): Promise<string | undefined>;
  invitation(invitationId: string): Promise<InvitationState>;
  billing(): Promise<BillingState>;
  events(): Promise<readonly StoredEvent[]>;
  /** Clients with a live subscription, one entry for each. */
  billed(): readonly string[];
  roleOf(clientId: string): Promise<string | undefined>;
  /** Until nothing is left to do, and sleeping workers have had time to wake up and do harm. */
  untilSettled(): Promise<void>;
  /** What must hold in the end, however it went. */
  expectSound(): Promise<void>;
  stop(): Promise<void>;
}

const addressOf = (person: string): string => `${person}@example.com`;

/** The old owner came to the website by a transfer as well, and is billed for it. */
export const createTransferWorld = async (): Promise<TransferWorld> => {
  const clock = createTestClock();
  const stores = await createMemoryStores();
  const remote: Remote = { customers: [], subscriptions: [] };
  const engine = engineOn(stores, { clock });
  const context = () => ({ commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request-1' });
  const website = { name: 'Bakery', slug: 'bakery', templateId: 'business', tier: 'starter', collaborators: [] } as const;
  const { websiteId } = await createWebsite(engine, website, context());
  const oldId = await createClient(engine, { email: addressOf('old') }, context());
  const newId = await createClient(engine, { email: addressOf('new') }, context());
  const workers: Worker[] = [];

  const eventsOf = async () => (await stores.eventStore.readStream(billingStream.name({ websiteId }))).events;
  const billing = async () => (await engine.state(billingFold, { websiteId })).state;
  const ownerId = async () => (await engine.read(websiteProjection, websiteId)).document?.clientId;
  const billed = () =>
    remote.subscriptions.filter(({ live, clientId }) => live && clientId !== '').map(({ clientId }) => clientId);

  /** Every one that there has been. */
  const offers = new Set<string>();
  const invitation = async (invitationId: string): Promise<InvitationState> => {
    const key = keyOfInvitation(invitationId);
    const found = key === null ? undefined : (await engine.state(accessFold, key)).state.invitations.get(invitationId);
    if (found === undefined) throw new Error('there is no such invitation');
    return found;
  };

  const isSettled = async (): Promise<boolean> => {
    const owner = await ownerId();
    const stages = await Promise.all([...offers].map(async (id) => (await invitation(id)).stage));
    const { accounts, claimId } = await billing();
    const isLeft = [...accounts].some(([clientId, { stage }]) => stage !== 'ended' && clientId !== owner);
    return !stages.includes('claimed') && claimId === undefined && !isLeft;
  };

  const world: TransferWorld = {
    clock,
    remote,
    websiteId,
    engine,
    oldId,
    newId,
    offer: async (person = 'new', priceId, subscriptionId) => {
      const offered = { websiteId, email: addressOf(person), priceId, subscriptionId, sendMail: false };
      const { handled } = await offerTransfer(engine, offered, context());
      const [invitationId = ''] = [...handled.state.invitations.keys()].slice(-1);
      offers.add(invitationId);
      return invitationId;
    },
    addSubscription: (markedWith = '') => {
      const [id, customerId] = [`s${remote.subscriptions.length + 1}`, `c${remote.customers.length + 1}`];
      remote.customers.push({ id: customerId, clientId: '' });
      remote.subscriptions.push({ id, customerId, clientId: '', websiteId: markedWith, priceId: undefined, live: true });
      return id;
    },
    claim: async (invitationId, person = 'new') => {
      await claimInvitation(engine, { invitationId, subject: person, verifiedEmail: addressOf(person) }, context());
    },
    cancel: async (invitationId) => {
      await changeInvitation(engine, 'CancelTransfer', { websiteId, invitationId }, context());
    },
    assign: async (clientId) => {
      await changeWebsite(engine, { websiteId, clientId }, context());
    },
    removeOwner: async (clientId) => {
      const command = { type: 'RemoveOwner', websiteId, clientId } as const;
      await engine.handle(websiteDecider, command, context());
    },
    erase: async (clientId) => {
      const findTargets = () => Promise.resolve({ ...noTargets, owned: [websiteId], accessible: [{ websiteId, clientId }] });
      await eraseClient(engine, { findTargets }, clientId, context());
    },
    archive: async () => {
      await engine.handle(websiteDecider, { type: 'ArchiveWebsite', websiteId }, context());
    },
    restore: async () => {
      await engine.handle(websiteDecider, { type: 'RestoreWebsite', websiteId }, context());
    },
    link: async (person) => {
      await addClient(engine, { websiteId, email: addressOf(person), role: 'viewer' }, context());
    },
    unlink: async (clientId) => {
      await removeClient(engine, { websiteId, clientId }, context());
    },
    register: (person) => createClient(engine, { email: addressOf(person) }, context()),
    start: async (plan, { line } = {}) => {
      const machine = createMachine(stores, { world: clock, own: clock }, plan);
      const parts = partsOf(machine.engine);
      const list = listFrom(machine.engine);
      const count: Reader['count'] = async (projection, { where = {} }) =>
        (await list(projection as never, { where } as never)).length;
      const reader = { ...parts.reader, list, count };
      const worker = createTransferWorker({ ...parts, reader, payments: paymentsOn(remote, line ?? machine.line) });
      workers.push(worker);
      await worker.start();
      return { ...machine, stop: () => worker.stop() };
    },
    startAccess: async () => {
      const worker = createAccessWorker({ ...partsOf(engine), reader: { ...engine, list: listFrom(engine) } });
      workers.push(worker);
      await worker.start();
    },
    ownerId,
    invitation,
    billing,
    events: eventsOf,
    billed,
    roleOf: async (clientId) => linkRole((await engine.state(accessFold, { websiteId, clientId })).state),
    untilSettled: async () => {
      await passTimeUntil(clock, isSettled);
      const at = clock.now() + 30_000;
      await passTimeUntil(clock, () => Promise.resolve(clock.now() >= at));
    },
    expectSound: async () => {
      const owner = await ownerId();
      expect(billed()).toStrictEqual(owner === undefined ? [] : [owner]);
      const clientIds = remote.customers.map(({ clientId }) => clientId);
      expect(new Set(clientIds).size).toBe(clientIds.length);
      // The service knows the one that there is.
      const account = owner === undefined ? undefined : (await billing()).accounts.get(owner);
      const { handovers, outcomes } = await billing();
      for (const [claimId, { items, done }] of handovers) {
        if (outcomes.get(claimId) !== 'completed') continue;
        // The end of what the owner before pays comes later, and not when they are the owner again.
        const due = items.moves.filter(({ item }) => item !== 'previous_subscription');
        expect(due.filter(({ item }) => !done.has(item))).toStrictEqual([]);
      }
      const written = await eventsOf();
      const ticks = written
        .filter(({ type }) => type === 'TransferItemsDone')
        .flatMap(({ data }) => (data.items as string[]).map((item) => `${data.claimId as string} ${item}`));
      expect(new Set(ticks).size).toBe(ticks.length);
      const drawnUp = written.filter(({ type }) => type === 'TransferLedgerDrawnUp').map(({ data }) => data.claimId);
      expect(new Set(drawnUp).size).toBe(drawnUp.length);
      expect(account?.subscriptionId).toBe(remote.subscriptions.find(({ live, clientId }) => live && clientId !== '')?.id);
    },
    stop: () => stopInVirtualTime(clock, ...workers),
  };

  const first = await world.start(undefined, { line: directLine });
  await world.claim(await world.offer('old'), 'old');
  await passTimeUntil(clock, isSettled);
  await first.stop();
  expect(await ownerId()).toBe(oldId);
  return world;
};

/** The provider as one worker reaches it over its `line`. */
const paymentsOn = ({ customers, subscriptions }: Remote, line: Line): Payments => {
  const toSubscription = ({ id, live, priceId }: Remote['subscriptions'][number]): Subscription => ({
    id,
    ...(priceId !== undefined && { priceId }),
    status: live ? 'active' : 'canceled',
    createdAt: '2026-01-01T00:00:00.000Z',
  });
  const check: (request: Attachment) => { customerId: string } | AttachmentRefusal = ({
    subscriptionId,
    websiteId,
    clientId,
  }) => {
    const found = subscriptions.find(({ id }) => id === subscriptionId);
    if (found === undefined) return 'unknown';
    if (!found.live) return 'ended';
    if (found.websiteId !== '' && found.websiteId !== websiteId) return 'otherWebsite';
    return found.clientId === '' || found.clientId === clientId ? { customerId: found.customerId } : 'otherClient';
  };
  return {
    provider: 'remote',
    hasPrice: () => Promise.resolve(true),
    readPrice: (id) => Promise.resolve(id === undefined ? {} : { id }),
    findCustomer: ({ clientId }: Payer) => line('findCustomer', () => customers.find((one) => one.clientId === clientId) ?? null),
    createCustomer: ({ clientId }, confirm) => {
      confirm();
      return line('createCustomer', () => {
        const customer = { id: `c${customers.length + 1}`, clientId };
        customers.push(customer);
        return customer;
      });
    },
    findSubscription: (customerId, websiteId, except = []) =>
      line('findSubscription', () => {
        const found = subscriptions.find(
          (one) => one.customerId === customerId && one.websiteId === websiteId && one.live && !except.includes(one.id),
        );
        return found === undefined ? null : toSubscription(found);
      }),
    createSubscription: ({ customerId, clientId, websiteId, priceId }, confirm) => {
      confirm();
      return line('createSubscription', () => {
        const id = `s${subscriptions.length + 1}`;
        const subscription = { id, customerId, clientId, websiteId, priceId, live: true };
        subscriptions.push(subscription);
        return toSubscription(subscription);
      });
    },
    checkAttachment: (request) => line('checkAttachment', () => check(request)),
    attachSubscription: (request, confirm) => {
      confirm();
      return line('attachSubscription', () => {
        const checked = check(request);
        const { subscriptionId, websiteId, clientId = '' } = request;
        if (typeof checked === 'string') return checked;
        for (const one of subscriptions) if (one.id === subscriptionId) Object.assign(one, { websiteId, clientId });
        return 'attached';
      });
    },
    detachSubscription: ({ subscriptionId, websiteId, clientId }) =>
      line('detachSubscription', () => {
        const own = subscriptions.filter((one) => one.id === subscriptionId && one.websiteId === websiteId);
        for (const one of own) if (one.clientId === clientId) Object.assign(one, { websiteId: '', clientId: '' });
      }),
    markCustomer: (customerId, clientId) =>
      line('markCustomer', () => {
        for (const one of customers) if (one.id === customerId) one.clientId = clientId;
      }),
    endSubscription: (id) =>
      line('endSubscription', () => {
        for (const one of subscriptions) if (one.id === id) one.live = false;
      }),
    readSubscriptions: () => Promise.resolve([]),
    listInvoices: () => Promise.resolve({ items: [] }),
    readInvoices: () => Promise.resolve([]),
    voidInvoice: (invoice) => Promise.resolve(invoice),
    portalLink: () => Promise.resolve(null),
  };
};
