import { beforeEach, describe, expect, test } from '@jest/globals';
import type { DeliveryEvent } from '../../src/events/delivery/delivery.events.js';
import { visibleChanges } from '../../src/events/delivery/delivery.visible.js';
import { NO_STREAM } from '../../src/events/store/eventStore.js';
import { deliveryAt, deliveryBefore, deliveryHistory, deliveryHistoryPage } from '../../src/events/delivery/delivery.history.js';
import { checkpoint, content, eta, replaced, setUp, websiteId } from '../support/delivery.js';
import { recorded, someAdmin } from '../support/given.js';
import { startEngine } from '../support/engineProcess.js';
import type { TestProcess } from '../support/process.js';
import { temporaryFolder } from '../support/temporary.js';
import { engineOn, openStores } from '../workers/engines.js';

let engine: TestProcess;
beforeEach(async () => {
  engine = engineOn(await openStores());
});

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

/**
 * Puts events into the log, the first `second` seconds after the start of the year, the others a
 * second apart.
 */
const log = async (events: readonly DeliveryEvent[], second = 0): Promise<void> => {
  const encoded = events.map((event, index) =>
    engine.codec.encode(event, engine.ids.commandId(), recorded(event, { at: at(second + index) }).metadata),
  );
  await engine.eventStore.append(`delivery-${websiteId}`, encoded, 'any');
};

const statusSet = (from: 'pending' | 'in_progress', to: 'pending' | 'in_progress'): DeliveryEvent => ({
  type: 'DeliveryCheckpointStatusSet',
  data: { websiteId, checkpointId: 'a', status: to, previousStatus: from },
});

const start = setUp([checkpoint('a')], { reason: 'Signed', reasonVisible: false });
const previewShown = replaced([checkpoint('a')], { showPreviewUrl: true });

describe('a delivery’s history', () => {
  test('lists each change with who, when, why and what, and the block after it', async () => {
    await log([start, previewShown, { type: 'DeliveryUndone', data: { ...content([checkpoint('a')]), revision: 1 } }]);
    expect(await deliveryHistoryPage(engine, websiteId, { after: NO_STREAM, limit: 10 })).toStrictEqual([
      {
        revision: 0n,
        at: at(0),
        actor: someAdmin,
        type: 'DeliverySetUp',
        changes: [
          { path: 'estimatedCompletionAt', from: null, to: eta },
          { path: 'showPreviewUrl', from: null, to: false },
          { path: 'checkpoints.a', from: null, to: checkpoint('a') },
        ],
        reason: 'Signed',
        reasonVisible: false,
        block: { ...content([checkpoint('a')]), updatedAt: at(0) },
      },
      {
        revision: 1n,
        at: at(1),
        actor: someAdmin,
        type: 'DeliveryReplaced',
        changes: [{ path: 'showPreviewUrl', from: false, to: true }],
        block: { ...content([checkpoint('a')]), showPreviewUrl: true, updatedAt: at(1) },
      },
      {
        revision: 2n,
        at: at(2),
        actor: someAdmin,
        type: 'DeliveryUndone',
        changes: [{ path: 'showPreviewUrl', from: true, to: false }],
        undid: 1,
        block: { ...content([checkpoint('a')]), updatedAt: at(2) },
      },
    ]);
  });

  test('of thousands of changes is whole, and read in pages', async () => {
    const toggles = Array.from({ length: 1_100 }, (_, index) =>
      index % 2 === 0 ? statusSet('pending', 'in_progress') : statusSet('in_progress', 'pending'),
    );
    await log([start, ...toggles]);
    await log(toggles, 2_000);

    let next = 0n;
    for await (const { revision, changes } of deliveryHistory(engine, websiteId)) {
      expect(revision).toBe(next);
      if (next > 0n) expect(changes).toHaveLength(1);
      next += 1n;
    }
    expect(next).toBe(2_201n);
    const page = await deliveryHistoryPage(engine, websiteId, { after: 999n, limit: 3 });
    expect(page.map(({ revision }) => revision)).toStrictEqual([1_000n, 1_001n, 1_002n]);
    expect(await deliveryHistoryPage(engine, websiteId, { after: 2_200n, limit: 3 })).toStrictEqual([]);
  });

  test('of thousands of changes is read near what is asked for, by a process that was just started too', async () => {
    const folder = temporaryFolder();
    const first = await startEngine(undefined, folder);
    engine = first.engine;
    const toggles = Array.from({ length: 1_100 }, (_, index) =>
      index % 2 === 0 ? statusSet('pending', 'in_progress') : statusSet('in_progress', 'pending'),
    );
    await log([start, ...toggles]);
    await log(toggles, 2_000);
    await deliveryAt(engine, websiteId, at(0));

    const reads = [
      async (on: TestProcess) =>
        (await deliveryHistoryPage(on, websiteId, { after: 2_150n, limit: 50 })).map(({ revision }) => revision).at(-1),
      async (on: TestProcess) => (await deliveryAt(on, websiteId, at(1_050)))?.revision,
      async (on: TestProcess) => (await deliveryBefore(on, websiteId, 1_600))?.updatedAt,
      async (on: TestProcess) => (await visibleChanges(on, websiteId, { after: NO_STREAM, limit: 50 })).at(-1)?.revision,
      async (on: TestProcess) => (await visibleChanges(on, websiteId, { after: 2_190n, limit: 50 })).length,
    ];
    const expected = [2_200n, 1_050n, at(2_498), 2_151n, 10];
    const second = await startEngine(undefined, folder);
    for (const { engine: on, eventStore } of [first, second]) {
      for (const [index, read] of reads.entries()) {
        eventStore.reads.length = 0;
        expect(await read(on)).toBe(expected[index]);
        expect(eventStore.reads.reduce((sum, { events }) => sum + events, 0)).toBeLessThanOrEqual(250);
      }
    }
  });

  test('of a block that was never set up is empty', async () => {
    expect(await deliveryHistoryPage(engine, websiteId, { after: NO_STREAM, limit: 10 })).toStrictEqual([]);
  });
});

describe('a delivery block at a time', () => {
  test('is what the last change up to then left; none before the set-up', async () => {
    await log([start], 0);
    // Two changes in one millisecond: the later one counts.
    await log([previewShown], 5);
    await log([statusSet('pending', 'in_progress')], 5);
    await log([replaced([])], 9);
    const revisionAt = async (time: string): Promise<bigint | undefined> => (await deliveryAt(engine, websiteId, time))?.revision;

    expect(await revisionAt('2025-12-31T23:59:59.999Z')).toBeUndefined();
    expect(await revisionAt(at(0))).toBe(0n);
    expect(await revisionAt('2026-01-01T00:00:04.999Z')).toBe(0n);
    expect(await revisionAt(at(5))).toBe(2n);
    expect(await revisionAt(at(1_000))).toBe(3n);
    expect((await deliveryAt(engine, websiteId, at(8)))?.block).toStrictEqual({
      ...content([checkpoint('a', { status: 'in_progress' })]),
      showPreviewUrl: true,
      updatedAt: at(5),
    });
  });
});

describe('a delivery block before a change', () => {
  test('is what the change before it left; none before the set-up and for what is no change', async () => {
    await log([start, previewShown]);
    expect(await deliveryBefore(engine, websiteId, 1)).toStrictEqual({ ...content([checkpoint('a')]), updatedAt: at(0) });
    expect(await deliveryBefore(engine, websiteId, 0)).toBeNull();
    expect(await deliveryBefore(engine, websiteId, 2)).toBeNull();
  });
});
