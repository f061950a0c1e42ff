import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { DeliveryBlock } from '../../src/events/delivery/delivery.block.js';
import { blockAfter } from '../../src/events/delivery/delivery.block.js';
import type { DeliveryCheckpoint, DeliveryEvent } from '../../src/events/delivery/delivery.events.js';
import { deliveryAt, deliveryBefore, type KeptDeliveryLog } from '../../src/events/delivery/delivery.history.js';
import { isSeenByClients, visibleChange, type VisibleChange } from '../../src/events/delivery/delivery.steps.js';
import { countVisibleChanges, visibleChanges } from '../../src/events/delivery/delivery.visible.js';
import type { Recorded } from '../../src/events/envelope.js';
import { NO_STREAM } from '../../src/events/store/eventStore.js';
import { checkpoint, content, websiteId } from '../support/delivery.js';
import { recorded } from '../support/given.js';

const secret = 'https://secret.example/';
const hiddenReason = 'hidden words';

const entry = fc.record({
  id: fc.constantFrom('a', 'b', 'c'),
  status: fc.constantFrom('pending', 'in_progress', 'done'),
  neededFromClient: fc.option(fc.constantFrom('Texts', 'Logo'), { nil: undefined }),
});

const checkpoints = fc.uniqueArray(entry, { selector: ({ id }) => id, maxLength: 3 }).map((entries): DeliveryCheckpoint[] =>
  entries.map(({ id, status, neededFromClient }) =>
    checkpoint(id, {
      status,
      ...(status === 'done' && { completedAt: '2026-01-01T00:00:00.000Z' }),
      ...(status !== 'done' && neededFromClient !== undefined && { neededFromClient }),
    }),
  ),
);

const block = fc
  .record({
    checkpoints,
    showPreviewUrl: fc.boolean(),
    override: fc.option(fc.nat(3), { nil: undefined }),
  })
  .map((made) =>
    content(made.checkpoints, {
      showPreviewUrl: made.showPreviewUrl,
      ...(made.override !== undefined && { previewUrlOverride: `${secret}${String(made.override)}` }),
    }),
  );

const why = fc.constantFrom({}, { reason: hiddenReason, reasonVisible: false }, { reason: 'for clients', reasonVisible: true });

const change: fc.Arbitrary<DeliveryEvent> = fc.oneof(
  fc.tuple(block, why).map(([data, reason]): DeliveryEvent => ({ type: 'DeliveryReplaced', data: { ...data, ...reason } })),
  block.map((data): DeliveryEvent => ({ type: 'DeliveryUndone', data: { ...data, revision: 1 } })),
  fc.record({ id: fc.constantFrom('a', 'b', 'c'), done: fc.boolean() }).map(({ id, done }): DeliveryEvent => ({
    type: 'DeliveryCheckpointStatusSet',
    data: {
      websiteId,
      checkpointId: id,
      status: done ? 'done' : 'pending',
      previousStatus: 'in_progress',
      ...(done && { completedAt: '2026-01-02T00:00:00.000Z' }),
    },
  })),
);

/** Seconds between one event and the next; some are at the same time. */
const life = fc.tuple(block, fc.array(fc.tuple(change, fc.nat(2)), { maxLength: 15 })).map(([first, changes]) => {
  let seconds = 0;
  const all: readonly (readonly [DeliveryEvent, number])[] = [[{ type: 'DeliverySetUp', data: first }, 0], ...changes];
  return all.map(([event, wait], revision) => {
    seconds += wait;
    return recorded(event, { revision, at: at(seconds) });
  });
});

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();

/** A log that keeps the block of every third revision. */
const logOf = (events: readonly Recorded<DeliveryEvent>[]): KeptDeliveryLog => {
  let last: DeliveryBlock | null = null;
  let visible = 0;
  const kept = events.flatMap((event) => {
    const before = last;
    last = blockAfter(before, event);
    if (visibleChange({ event, before, after: last }) !== null) visible += 1;
    return event.revision % 3n === 2n ? [{ revision: event.revision, at: event.metadata.at, block: last, visible }] : [];
  });
  return {
    async *history(_stream, _key, after = NO_STREAM) {
      await Promise.resolve();
      yield* events.filter(({ revision }) => revision > after) as never[];
    },
    state: () => Promise.resolve({ state: { kept, block: last, visible }, revision: BigInt(events.length - 1), at: '' } as never),
  };
};

test('the block at any time, and before any change, is the fold of the events up to there', async () => {
  await fc.assert(
    fc.asyncProperty(life, fc.integer({ min: -1, max: 40 }), fc.nat(20), async (events, seconds, revision) => {
      const time = at(seconds);
      const log = logOf(events);
      const until = events.filter(({ metadata }) => metadata.at <= time);
      const folded = until.reduce<DeliveryBlock | null>(blockAfter, null);
      expect(await deliveryAt(log, websiteId, time)).toStrictEqual(
        folded === null ? null : { block: folded, revision: until.at(-1)?.revision },
      );
      const known = revision < events.length ? events.slice(0, revision) : [];
      expect(await deliveryBefore(log, websiteId, revision)).toStrictEqual(known.reduce<DeliveryBlock | null>(blockAfter, null));
    }),
  );
});

test('what clients are told of the changes leads from what they saw to what they see, and to nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(life, fc.integer({ min: -1, max: 16 }), async (events, since) => {
      const log = logOf(events);
      const told = await visibleChanges(log, websiteId, { after: BigInt(since), limit: 100 });
      const inPages: VisibleChange[] = [];
      for (;;) {
        const last = inPages.at(-1);
        const before = last === undefined ? {} : { before: last.revision };
        const page = await visibleChanges(log, websiteId, { after: BigInt(since), ...before, limit: 2 });
        if (page.length === 0) break;
        inPages.push(...page);
      }
      expect(inPages).toStrictEqual(told);
      expect(await countVisibleChanges(log, websiteId, BigInt(since))).toBe(told.length);
      const text = JSON.stringify(told.map((each) => ({ ...each, revision: Number(each.revision) })));
      expect(text).not.toContain(secret);
      expect(text).not.toContain(hiddenReason);
      expect(told.every(({ revision }) => revision > BigInt(since))).toBe(true);

      const before = events.slice(0, since + 1).reduce<DeliveryBlock | null>(blockAfter, null);
      const after = events.reduce<DeliveryBlock | null>(blockAfter, null);
      const flat = flatOf(before);
      for (const { changes } of [...told].reverse()) {
        for (const { path, from, to } of changes.filter((one) => one.path !== 'checkpoints')) {
          const [, id, field] = path.split('.');
          const isWhole = id !== undefined && field === undefined;
          if (!isWhole) expect(flat.get(path) ?? null).toStrictEqual(from);
          if (isWhole) for (const name of [...flat.keys()]) if (name.startsWith(`${path}.`)) flat.delete(name);
          const parts =
            isWhole && to !== null
              ? Object.entries(to as Record<string, unknown>).map(([name, value]) => [`${path}.${name}`, value])
              : [[path, to]];
          for (const [name, value] of parts as [string, unknown][]) {
            if (value === null) flat.delete(name);
            else flat.set(name, value);
          }
        }
      }
      expect(sorted(flat)).toStrictEqual(sorted(flatOf(after)));
    }),
  );
});

test('clients see a change of what they receive, and of reasons that are meant for them', () => {
  /** As they receive it, with the address where the preview leads. */
  const received = (seen: DeliveryBlock | null): unknown[] => [
    ...sorted(flatOf(seen)),
    seen?.checkpoints.map(({ id }) => id),
    seen?.showPreviewUrl === true ? seen.previewUrlOverride : undefined,
  ];
  fc.assert(
    fc.property(life, (events) => {
      let before: DeliveryBlock | null = null;
      for (const event of events) {
        const after: DeliveryBlock | null = blockAfter(before, event);
        const isOther = JSON.stringify(received(before)) !== JSON.stringify(received(after));
        const isTold = 'reasonVisible' in event.data && event.data.reasonVisible;
        expect(isSeenByClients({ event, before, after })).toBe(isOther || isTold);
        before = after;
      }
    }),
  );
});

test('a block without events has no changes and no past', async () => {
  expect(await visibleChanges(logOf([]), websiteId, { after: NO_STREAM, limit: 10 })).toEqual([]);
  expect(await countVisibleChanges(logOf([]), websiteId, NO_STREAM)).toBe(0);
  expect(await deliveryAt(logOf([]), websiteId, at(0))).toBeNull();
});

/** What clients see of a block, by path. */
const flatOf = (seen: DeliveryBlock | null): Map<string, unknown> => {
  const flat = new Map<string, unknown>();
  if (seen === null) return flat;
  flat.set('estimatedCompletionAt', seen.estimatedCompletionAt);
  flat.set('showPreviewUrl', seen.showPreviewUrl);
  for (const one of seen.checkpoints) {
    for (const [name, value] of Object.entries(one)) flat.set(`checkpoints.${one.id}.${name}`, value);
  }
  return flat;
};

const sorted = (flat: Map<string, unknown>): unknown[] => [...flat].sort(([one], [other]) => (one < other ? -1 : 1));
