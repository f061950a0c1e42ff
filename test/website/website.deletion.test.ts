import { expect, test } from '@jest/globals';
import { deletionSteps } from '../../src/events/deletion/deletion.events.js';
import { NO_STREAM } from '../../src/events/store/eventStore.js';
import type { WebsiteEvent } from '../../src/events/website/website.events.js';
import { createDeletionWorker, createScheduledDeletionWorker } from '../../src/workers/deletion/deletionWorker.js';
import { deletionFold } from '../../src/workers/deletion/deletion.process.js';
import { reactionFold, reactionProcess } from '../../src/workers/reaction/reaction.process.js';
import { someAdmin } from '../support/given.js';
import { partsOf } from '../support/process.js';
import { createTestClock } from '../support/testClock.js';
import { engineOn } from '../workers/engines.js';
import { passTimeUntil, stopInVirtualTime } from '../workers/machine.js';
import { createMemoryStores } from '../workers/memoryStores.js';
import { createRemote, directLine, providersOn } from '../workers/remote.js';

const createWorld = async () => {
  const clock = createTestClock();
  const stores = await createMemoryStores();
  const engine = engineOn(stores, { clock });
  const at = new Date(clock.now()).toISOString();
  const metadata = { at, actor: someAdmin, requestId: 'r', correlationId: 'c', causationId: 'c' };
  return { clock, stores, engine, metadata };
};

test('what a deleted website has left is removed, however many deletions wait for their day', async () => {
  const { clock, stores, engine, metadata } = await createWorld();
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
  await passTimeUntil(clock, async () => (await done()).length === deletionSteps.length);
  await stopInVirtualTime(clock, ...workers);
});

test('a scheduled deletion that failed in the worker for clean-ups, as one did in 0.1.0, is failing no more', async () => {
  const { clock, stores, engine, metadata } = await createWorld();
  const context = { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r' };
  const purgeAt = new Date(clock.now() + 30 * 86_400_000).toISOString();
  const scheduled: WebsiteEvent = { type: 'WebsiteDeletionScheduled', data: { websiteId: 'w', purgeAt, keep: [] } };
  await stores.eventStore.append('website-w', [engine.codec.encode(scheduled, 'scheduled', metadata)], NO_STREAM);
  const [stored] = (await stores.eventStore.readStream('website-w')).events;
  if (stored === undefined) throw new Error('there is no event');
  const { id: eventId, type: eventType, stream } = stored;
  const reaction = { worker: 'deletion', eventId, eventType, stream, revision: '0', position: String(stored.position) };
  await engine.handle(reactionProcess, { type: 'RecordReactionFailure', ...reaction, reason: 'away' }, context);
  const stage = async () => (await engine.state(reactionFold, reaction)).state.stage;
  expect(await stage()).toBe('failing');

  const worker = createDeletionWorker({ ...partsOf(engine), ...providersOn(createRemote(), directLine) });
  await worker.start();
  await passTimeUntil(clock, async () => (await stage()) === 'none', { withinMs: 60_000 });
  await stopInVirtualTime(clock, worker);
});
