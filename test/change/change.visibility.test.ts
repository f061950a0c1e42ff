import { expect, test } from '@jest/globals';
import { deliveryDecider } from '../../src/commands/delivery/delivery.decider.js';
import type { Recorded } from '../../src/events/envelope.js';
import { deliveryStream } from '../../src/events/delivery/delivery.stream.js';
import type { Caller, WebsiteAccess } from '../../src/http/auth/caller.js';
import { createMaySee } from '../../src/http/routes/change/change.visibility.js';
import { content, unchanged, websiteId } from '../support/delivery.js';
import { someAdmin } from '../support/given.js';
import { engineOn } from '../workers/engines.js';
import { createMemoryStores } from '../workers/memoryStores.js';

const viewer: Caller = { subject: 'viewer', role: 'client', via: 'portal', scope: 'read' };
const access = { standing: 'viewer', website: { id: websiteId } } as WebsiteAccess;

/** Changes a delivery, and gives the stores with their events. */
const changed = async (changes: readonly Partial<ReturnType<typeof content>>[]) => {
  const stores = await createMemoryStores();
  const engine = engineOn(stores);
  for (const change of changes) {
    const context = { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r1' };
    await engine.handle(deliveryDecider, { ...unchanged, ...content([]), ...change }, context);
  }
  const events: Recorded[] = [];
  for await (const event of engine.history(deliveryStream, { websiteId })) events.push(event);
  expect(events).toHaveLength(changes.length);
  return { stores, events };
};

/** How many events a viewer's resume over that many changes of a delivery reads. */
const readsOf = async (changes: number): Promise<number> => {
  const { stores, events: missed } = await changed(
    Array.from({ length: changes }, (_, change) => ({ showPreviewUrl: change % 2 === 1 })),
  );

  let reads = 0;
  const readStream: typeof stores.eventStore.readStream = async (...asked) => {
    const slice = await stores.eventStore.readStream(...asked);
    reads += slice.events.length;
    return slice;
  };
  const maySee = createMaySee(engineOn({ ...stores, eventStore: { ...stores.eventStore, readStream } }));
  for (const event of missed) expect(await maySee(event, viewer, access)).toBe(true);
  return reads;
};

test('a resume over many changes of a delivery reads no more for each than one over few', async () => {
  const few = await readsOf(50);
  expect(await readsOf(500)).toBeLessThanOrEqual(10 * few);
});

test('a change of a delivery is told by the block before it, in whichever order they are asked for', async () => {
  const { stores, events } = await changed([
    { previewUrlOverride: 'https://a.example/' },
    { previewUrlOverride: 'https://b.example/' },
    { previewUrlOverride: 'https://b.example/', showPreviewUrl: true },
  ]);
  const maySee = createMaySee(engineOn(stores));
  const told: boolean[] = [];
  for (const event of events.toReversed()) told.push(await maySee(event, viewer, access));
  expect(told).toEqual([true, false, true]);
});

test('a fault is not kept: who asks again is told', async () => {
  const { stores, events } = await changed([{}]);
  const [event] = events as [Recorded];
  let isBroken = true;
  const readStream: typeof stores.eventStore.readStream = (...asked) =>
    isBroken ? Promise.reject(new Error('broken')) : stores.eventStore.readStream(...asked);
  const maySee = createMaySee(engineOn({ ...stores, eventStore: { ...stores.eventStore, readStream } }));
  await expect(maySee(event, viewer, access)).rejects.toThrow('broken');
  isBroken = false;
  expect(await maySee(event, viewer, access)).toBe(true);
});

test('what is billed is told to the owner whom it is for', async () => {
  const maySee = createMaySee(engineOn(await createMemoryStores()));
  const event = { type: 'InvoiceIssued', data: { websiteId, clientId: 'before' } } as unknown as Recorded;
  const owning = { ...access, standing: 'owner' } as const;
  for (const clientId of ['before', 'now']) {
    expect(await maySee(event, { ...viewer, clientId }, owning)).toBe(clientId === 'before');
  }
});
