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

/** How many events a viewer's resume over that many changes of a delivery reads. */
const readsOf = async (changes: number): Promise<number> => {
  const stores = await createMemoryStores();
  const engine = engineOn(stores);
  for (let change = 0; change < changes; change += 1) {
    const context = { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r1' };
    const command = { ...unchanged, ...content([]), showPreviewUrl: change % 2 === 1 };
    await engine.handle(deliveryDecider, command, context);
  }
  const missed: Recorded[] = [];
  for await (const event of engine.history(deliveryStream, { websiteId })) missed.push(event);
  expect(missed).toHaveLength(changes);

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
