import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { DeliveryCommand } from '../../src/commands/delivery/delivery.commands.js';
import { deliveryDecider } from '../../src/commands/delivery/delivery.decider.js';
import { isRefusal } from '../../src/commands/decider.js';
import type { Untimed } from '../../src/commands/decider.js';
import { createCodec } from '../../src/events/codec.js';
import { contentOf, type DeliveryBlock } from '../../src/events/delivery/delivery.block.js';
import { changesBetween } from '../../src/events/delivery/delivery.changes.js';
import { deliveryEvents, deliveryCheckpointStatuses, type DeliveryEvent } from '../../src/events/delivery/delivery.events.js';
import type { DeliveryReason } from '../../src/events/delivery/delivery.reason.js';
import type { JsonObject, Recorded } from '../../src/events/envelope.js';
import type { StoredEvent } from '../../src/events/store/eventStore.js';
import { deliveryProjection } from '../../src/projections/delivery/delivery.projection.js';
import { websiteId } from '../support/delivery.js';
import { recorded, someAdmin } from '../support/given.js';
import type { DeliveryState } from '../../src/events/delivery/delivery.state.js';

const status = fc.constantFrom(...deliveryCheckpointStatuses);
/** Few, so that they meet again; one is as long as may be. */
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'constructor', 'x'.repeat(64));
const time = fc
  .date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());

const checkpoint = (ids: fc.Arbitrary<string>) =>
  fc.record(
    {
      id: ids,
      label: fc.string({ minLength: 1, maxLength: 200, unit: 'binary' }),
      order: fc.oneof(fc.integer({ min: -2, max: 2 }), fc.maxSafeInteger(), fc.constant(-0)),
      status,
      dueAt: time,
      neededFromClient: fc.string({ maxLength: 300, unit: 'binary' }),
    },
    { requiredKeys: ['id', 'label', 'order', 'status'] },
  );

const checkpoints = fc.oneof(
  { weight: 4, arbitrary: fc.uniqueArray(checkpoint(id), { selector: (entry) => entry.id, maxLength: 10 }) },
  { weight: 1, arbitrary: fc.array(checkpoint(id), { maxLength: 4 }) },
  {
    weight: 1,
    arbitrary: fc.uniqueArray(checkpoint(fc.stringMatching(/^[A-Za-z0-9-]{3}$/)), {
      selector: (entry) => entry.id,
      minLength: 38,
      maxLength: 42,
    }),
  },
);

const replacement = fc.record(
  {
    estimatedCompletionAt: time,
    showPreviewUrl: fc.boolean(),
    previewUrlOverride: fc.oneof(fc.constantFrom('', 'not a url', 'https://user:secret@example.com'), fc.webUrl()),
    checkpoints,
    reason: fc.string({ minLength: 1, maxLength: 20 }),
    reasonVisible: fc.boolean(),
  },
  { requiredKeys: ['estimatedCompletionAt', 'showPreviewUrl'] },
);

type Request =
  | { readonly ask: 'replace'; readonly with: Partial<typeof replacement extends fc.Arbitrary<infer Value> ? Value : never> }
  /** The block as it is, with a reason. */
  | { readonly ask: 'explain'; readonly reason: string; readonly reasonVisible?: boolean }
  | { readonly ask: 'status'; readonly checkpointId: string; readonly status: (typeof deliveryCheckpointStatuses)[number] }
  | { readonly ask: 'undo'; readonly revision: number };

const request: fc.Arbitrary<Request> = fc.oneof(
  { weight: 3, arbitrary: replacement.map((fields): Request => ({ ask: 'replace', with: fields })) },
  { weight: 1, arbitrary: fc.constant<Request>({ ask: 'replace', with: {} }) },
  {
    weight: 2,
    arbitrary: fc.record(
      { ask: fc.constant('explain' as const), reason: fc.constantFrom('late', 'early'), reasonVisible: fc.boolean() },
      { requiredKeys: ['ask', 'reason'] },
    ),
  },
  { weight: 4, arbitrary: fc.record({ ask: fc.constant('status' as const), checkpointId: id, status }) },
  { weight: 2, arbitrary: fc.record({ ask: fc.constant('undo' as const), revision: fc.nat({ max: 12 }) }) },
);

const codec = createCodec(deliveryEvents);
const stream = 'delivery-w1';

/** What comes back from the log: encoded, through JSON, decoded. */
const stored = (event: DeliveryEvent, revision: number, at: string): Recorded<DeliveryEvent> => {
  const { metadata } = recorded(event, { revision, at, stream, actor: someAdmin });
  const written = codec.encode(event, `event-${revision}`, metadata);
  const read: StoredEvent = {
    ...written,
    data: JSON.parse(JSON.stringify(written.data)) as JsonObject,
    stream,
    revision: BigInt(revision),
    position: BigInt(revision + 1),
    recordedAt: at,
  };
  return codec.decode(read) as Recorded<DeliveryEvent>;
};

const blockOf = (state: DeliveryState): DeliveryBlock | null => (state.stage === 'setUp' ? state.block : null);

/** A delivery's life: the events that came of it, and the block before each. */
const createLife = () => {
  const log: Recorded<DeliveryEvent>[] = [];
  const before: (DeliveryBlock | null)[] = [];
  let state = deliveryDecider.initialState;
  let seconds = 0;

  const commandOf = (asked: Request): Untimed<DeliveryCommand> => {
    switch (asked.ask) {
      case 'replace':
        return { type: 'ReplaceDelivery', websiteId, ...asked.with };
      case 'explain': {
        const { ask: _, ...why } = asked;
        const { estimatedCompletionAt, showPreviewUrl } = blockOf(state) ?? {};
        return { type: 'ReplaceDelivery', websiteId, estimatedCompletionAt, showPreviewUrl, ...why };
      }
      case 'status':
        return { type: 'SetCheckpointStatus', websiteId, checkpointId: asked.checkpointId, status: asked.status };
      case 'undo':
        return { type: 'UndoDeliveryChange', websiteId, revision: asked.revision, before: before[asked.revision] ?? null };
    }
  };

  const decide = (command: Untimed<DeliveryCommand>, at: string) => deliveryDecider.decide({ ...command, at }, state);

  return {
    log,
    before,
    state: () => state,
    nextTime: () => {
      seconds += 1;
      return new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
    },
    commandOf,
    decide,
    append: (events: readonly DeliveryEvent[], at: string) => {
      for (const event of events) {
        before.push(blockOf(state));
        // As `handleCommand` does it: over the event as decided, not as read back.
        state = deliveryDecider.evolve(state, recorded(event, { revision: log.length, at, stream }));
        log.push(stored(event, log.length, at));
      }
    },
  };
};

const expectSound = (block: DeliveryBlock): void => {
  const ids = block.checkpoints.map((entry) => entry.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeLessThanOrEqual(40);
  for (const entry of block.checkpoints) {
    expect(entry.completedAt !== undefined).toBe(entry.status === 'done');
    expect(entry.neededFromClient).not.toBe('');
    if (entry.status === 'done') expect(entry).not.toHaveProperty('neededFromClient');
  }
  const orders = block.checkpoints.map((entry) => entry.order);
  expect(orders).toStrictEqual([...orders].sort((one, other) => one - other));
  expect(block.previewUrlOverride).not.toBe('');
};

const isComplete = (asked: Request): boolean =>
  asked.ask !== 'replace' || (asked.with.estimatedCompletionAt !== undefined && asked.with.showPreviewUrl !== undefined);

/** Whether the last change gave this reason already, to the same people. */
const isSaid = ({ reason, reasonVisible = false }: DeliveryReason, last?: DeliveryEvent): boolean =>
  last !== undefined && 'reason' in last.data && last.data.reason === reason && last.data.reasonVisible === reasonVisible;

test('whatever is asked of a delivery block, its rules hold', () => {
  fc.assert(
    fc.property(fc.array(request, { maxLength: 20 }), (requests) => {
      const life = createLife();
      for (const asked of requests) {
        const before = blockOf(life.state());
        const last = life.log.at(-1);
        const at = life.nextTime();
        const outcome = life.decide(life.commandOf(asked), at);
        if (isRefusal(outcome)) continue;
        life.append(outcome, at);
        const after = blockOf(life.state());
        if (after === null) throw new Error('accepted, and there is no block');
        expectSound(after);

        // A change is recorded if something is different, or a reason is given that is not the last change's.
        const isDifferent = before === null || changesBetween(before, after).length > 0;
        const why = asked.ask === 'replace' ? asked.with : asked.ask === 'explain' ? asked : {};
        const isExplained = why.reason !== undefined && !isSaid(why, last);
        expect(outcome.length).toBe(isDifferent || isExplained ? 1 : 0);
        // A checkpoint that stays done keeps its time; an undo restores the earlier times.
        if (asked.ask !== 'undo') {
          const was = new Map(before?.checkpoints.map((entry) => [entry.id, entry.completedAt]));
          for (const { id: entry, completedAt } of after.checkpoints) {
            if (completedAt !== undefined) expect(completedAt).toBe(was.get(entry) ?? at);
          }
        } else {
          const restored = life.before[asked.revision];
          expect(contentOf(after)).toStrictEqual(restored && contentOf(restored));
        }
        // Repeated, it changes nothing.
        if (isComplete(asked)) expect(life.decide(life.commandOf(asked), life.nextTime())).toStrictEqual([]);
      }
      // What is read back from the log is what was decided, for decisions and for readers.
      expect(life.log.reduce(deliveryDecider.evolve, deliveryDecider.initialState)).toStrictEqual(life.state());
      expect(life.log.reduce<DeliveryBlock | null>(deliveryProjection.evolve, null)).toStrictEqual(blockOf(life.state()));
    }),
    { numRuns: 150 },
  );
});
