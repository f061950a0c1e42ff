import { expect, test } from '@jest/globals';
import { deliveryDecider } from '../../src/commands/delivery/delivery.decider.js';
import { undoDeliveryChange } from '../../src/commands/delivery/delivery.handlers.js';
import type { CommandContext, Handled } from '../../src/commands/handleCommand.js';
import { Refused, refusals } from '../../src/commands/refusal.js';
import { contentOf } from '../../src/events/delivery/delivery.block.js';
import type { DeliveryEvent } from '../../src/events/delivery/delivery.events.js';
import { deliveryProjection } from '../../src/projections/delivery/delivery.projection.js';
import { deliveryHistory, type DeliveryHistoryEntry } from '../../src/events/delivery/delivery.history.js';
import { checkpoint, websiteId } from '../support/delivery.js';
import { blockOf, callsOf, changesOf } from '../support/deliveryApi.js';
import { someAdmin } from '../support/given.js';
import { startApi } from '../support/http.js';
import { temporaryFolder } from '../support/temporary.js';
import type { TestProcess } from '../support/process.js';
import { engineOn, openStores } from '../workers/engines.js';
import type { DeliveryState } from '../../src/events/delivery/delivery.state.js';

const eta = (day: number): string => new Date(Date.UTC(2030, 0, 1 + day)).toISOString();
const ids = ['a', 'b', 'c', 'd'];
const statuses = ['pending', 'in_progress', 'done'] as const;
const pick = <Value>(values: readonly Value[], index: number): Value => values[index % values.length] as Value;

const contextOf = (engine: TestProcess): CommandContext => ({
  commandId: engine.ids.commandId(),
  actor: someAdmin,
  requestId: 'test',
});

/** Engines that share the files and nothing else: as many processes. */
const openCores = async (count: number): Promise<readonly TestProcess[]> => {
  const folder = temporaryFolder();
  const engines: TestProcess[] = [];
  for (let index = 0; index < count; index += 1) engines.push(engineOn(await openStores(undefined, folder)));
  return engines;
};

const setUp = (engine: TestProcess): Promise<Handled<DeliveryState, DeliveryEvent>> =>
  engine.handle(
    deliveryDecider,
    { type: 'ReplaceDelivery', websiteId, checkpoints: ids.map((id) => checkpoint(id)) },
    contextOf(engine),
  );

const historyOf = async (engine: TestProcess): Promise<readonly DeliveryHistoryEntry[]> => {
  const history: DeliveryHistoryEntry[] = [];
  for await (const entry of deliveryHistory(engine, websiteId)) history.push(entry);
  return history;
};

test('of many writers in several processes none is lost, doubled or mixed with another', async () => {
  const engines = await openCores(3);
  const [first] = engines;
  if (first === undefined) throw new Error('there are three');
  await setUp(first);

  const written = await Promise.all(
    Array.from({ length: 90 }, (_, index) => {
      const engine = pick(engines, index);
      const context = contextOf(engine);
      if (index % 3 === 0) {
        const fields = { estimatedCompletionAt: eta(index), showPreviewUrl: index % 2 === 0 };
        return engine.handle(deliveryDecider, { type: 'ReplaceDelivery', websiteId, ...fields }, context);
      }
      if (index % 10 === 1) return undoDeliveryChange(engine, websiteId, 1, context).catch(unlessTooEarly);
      return engine.handle(
        deliveryDecider,
        { type: 'SetCheckpointStatus', websiteId, checkpointId: pick(ids, index), status: pick(statuses, index >> 2) },
        context,
      );
    }),
  );

  const history = await historyOf(first);
  const appended = written.flatMap((handled) => (handled === null || handled.events.length === 0 ? [] : [handled]));
  // Each write that changed something is one change in the history, at the revision that it was
  // told.
  const byRevision = new Map(appended.map((handled) => [handled.revision, handled]));
  expect([...byRevision.keys()].sort((one, other) => Number(one - other))).toStrictEqual(
    history.slice(1).map(({ revision }) => revision),
  );
  expect(appended.length).toBe(byRevision.size);

  history.forEach(({ revision, type, block }, index) => {
    expect(revision).toBe(BigInt(index));
    const before = history[index - 1]?.block ?? null;
    if (before === null || block === null) return;
    // The answer equals the recorded block, and fields that were not in the command are unchanged.
    const answered = byRevision.get(revision);
    expect(answered?.state).toStrictEqual({ stage: 'setUp', block, why: {} });
    if (type === 'DeliveryReplaced') expect(block.checkpoints).toStrictEqual(before.checkpoints);
    if (type === 'DeliveryCheckpointStatusSet') {
      const { checkpoints: _, updatedAt: __, ...rest } = block;
      expect(before).toMatchObject(rest);
      const changed = block.checkpoints.filter((entry, place) => entry !== before.checkpoints[place]);
      expect(changed).toHaveLength(1);
    }
    if (type === 'DeliveryUndone') expect(contentOf(block)).toStrictEqual(contentOf(history[0]?.block ?? block));
  });

  const last = history.at(-1);
  for (const engine of engines) {
    expect(await engine.read(deliveryProjection, websiteId)).toStrictEqual({ document: last?.block, revision: last?.revision });
  }
});

/** The change to be undone may not have been made yet. */
const unlessTooEarly = (error: unknown): null => {
  if (error instanceof Refused && error.refusal.details !== undefined) return null;
  throw error;
};

test('of many writers that expect the same revision exactly one wins', async () => {
  const engines = await openCores(3);
  const [first] = engines;
  if (first === undefined) throw new Error('there are three');
  let { revision } = await setUp(first);

  for (const [round, checkpointId] of ids.entries()) {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => {
        const engine = pick(engines, index);
        const expected = { expectedRevision: revision };
        return index % 2 === 0
          ? engine.handle(
              deliveryDecider,
              { type: 'ReplaceDelivery', websiteId, estimatedCompletionAt: eta(100 * round + index), showPreviewUrl: true },
              contextOf(engine),
              expected,
            )
          : engine.handle(
              deliveryDecider,
              { type: 'SetCheckpointStatus', websiteId, checkpointId, status: 'done' },
              contextOf(engine),
              expected,
            );
      }),
    );
    const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const lost = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    expect(won.map(({ events }) => events.length)).toStrictEqual([1]);
    expect(lost).toStrictEqual(Array.from({ length: 11 }, () => new Refused(refusals.stale())));
    revision = won[0]?.revision ?? revision;
  }
  expect(await historyOf(first)).toHaveLength(1 + ids.length);
});

test('over HTTP, through two processes: every 200 is in every read that follows, and in the history once', async () => {
  const one = await startApi();
  const other = await startApi({ folder: one.folder });
  const token = await one.mintToken();
  const { body } = await one.call('POST', '/websites', { token, body: { name: 'A site', slug: 'site' } });
  const { id } = body as { id: string };
  const through = [callsOf(one, token, id), callsOf(other, token, id)];
  const [first] = through;
  if (first === undefined) throw new Error('there are two');
  blockOf(await first.replace({ checkpoints: ids.map((entry) => checkpoint(entry)) }));

  const revisions = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const writer = pick(through, index);
      const reader = pick(through, index + 1);
      const answer =
        index % 2 === 0
          ? await writer.replace({ estimatedCompletionAt: eta(index), showPreviewUrl: false, reason: `write-${index}` })
          : await writer.setStatus(pick(ids, index), pick(statuses, index));
      const { revision } = blockOf(answer);
      expect(blockOf(await reader.read()).revision).toBeGreaterThanOrEqual(revision);
      return revision;
    }),
  );

  const history = changesOf(await first.history('?limit=200'));
  expect(history.map(({ revision }) => revision)).toStrictEqual(history.map((_, index) => index));
  // Every replacement had an ETA of its own, so each is a change.
  const reasons = history.flatMap((entry) => ('reason' in entry ? [entry.reason] : []));
  expect([...reasons].sort()).toStrictEqual(Array.from({ length: 20 }, (_, index) => `write-${2 * index}`).sort());
  expect(Math.max(...revisions)).toBe(history.length - 1);
  for (const reader of through) expect(blockOf(await reader.read()).revision).toBe(history.length - 1);
});
