import { test } from '@jest/globals';
import { deletionSteps } from '../../src/events/deletion/deletion.events.js';
import { NO_STREAM } from '../../src/events/store/eventStore.js';
import type { WebsiteEvent } from '../../src/events/website/website.events.js';
import { createDeletionWorker, createScheduledDeletionWorker } from '../../src/workers/deletion/deletionWorker.js';
import { deletionFold } from '../../src/workers/deletion/deletion.process.js';
import { someAdmin } from '../support/given.js';
import { partsOf } from '../support/process.js';
import { createTestClock } from '../support/testClock.js';
import { engineOn } from '../workers/engines.js';
import { passTimeUntil, stopInVirtualTime } from '../workers/machine.js';
import { createMemoryStores } from '../workers/memoryStores.js';
import { createRemote, directLine, providersOn } from '../workers/remote.js';

test('what a deleted website has left is removed, however many deletions wait for their day', async () => {
  const clock = createTestClock();
  const stores = await createMemoryStores();
  const engine = engineOn(stores, { clock });
  const metadata = {
    at: new Date(clock.now()).toISOString(),
    actor: someAdmin,
    requestId: 'r',
    correlationId: 'c',
    causationId: 'c',
  };
  const append = async (websiteId: string, events: readonly WebsiteEvent[]) => {
    const encoded = events.map((event) => engine.codec.encode(event, engine.ids.commandId(), metadata));
    await stores.eventStore.append(`website-${websiteId}`, encoded, NO_STREAM);
  };
  const created = (websiteId: string): WebsiteEvent => ({
    type: 'WebsiteCreated',
    data: {
      websiteId,
      name: websiteId,
      slug: websiteId,
      templateId: 'business',
      tier: 'starter',
      features: [],
      collaborators: [],
      provisioningJobId: `job-${websiteId}`,
    },
  });
  const purgeAt = new Date(clock.now() + 30 * 86_400_000).toISOString();
  for (let count = 0; count <= 1_000; count += 1) {
    const websiteId = `waiting${count}`;
    await append(websiteId, [
      created(websiteId),
      { type: 'WebsiteArchived', data: { websiteId } },
      { type: 'WebsiteDeletionScheduled', data: { websiteId, purgeAt, keep: [] } },
    ]);
  }
  const websiteId = 'deleted';
  const gone = { websiteId, keep: [], name: 'deleted', provisioningJobId: 'job-deleted', slugs: ['deleted'] };
  await append(websiteId, [created(websiteId), { type: 'WebsiteDeleted', data: gone }]);

  const parts = partsOf(engine);
  // No projector runs here, and nobody has access.
  const reader = { ...parts.reader, list: () => Promise.resolve([]) };
  const workers = [
    createScheduledDeletionWorker(parts),

    createDeletionWorker({ ...parts, reader, ...providersOn(createRemote(), directLine) }),
  ];
  for (const worker of workers) await worker.start();
  const done = async () => (await engine.state(deletionFold, { websiteId })).state.done;
  await passTimeUntil(clock, async () => (await done()).length === deletionSteps.length, { withinMs: 60_000 });
  await stopInVirtualTime(clock, ...workers);
});
