import { setImmediate as nextTurn } from 'node:timers/promises';
import { EventStoreUnavailable, OutcomeUnknown, type EventStore } from '../../src/events/store/eventStore.js';
import type { TestClock } from '../support/testClock.js';
import { sleep, type Clock } from '../../src/platform/clock.js';
import type { Worker } from '../../src/workers/worker.js';
import type { TestProcess } from '../support/process.js';
import { engineOn, type Stores } from './engines.js';
import { permanentFault, transientFault, type Line } from './remote.js';

/** What befalls a machine in one of its acts, an act being an append or a call to a provider. */
export type Mishap =
  /** The act does not happen, and fails with a transient fault. */
  | 'fails'
  /** The act happens, but is reported as failed. */
  | 'happens, but seems to fail'
  /** The call happens, and no answer ever comes. An append: as above. */
  | 'happens, but is never answered'
  /** The provider will not do it. An append: the store is away. */
  | 'is refused'
  /** The machine stops for good, right before the act. */
  | 'dies before'
  /** The machine stops for good, right after the act. */
  | 'dies after'
  /**
   * The machine stands still for 20 s between its last look and the act. Not among `mishaps`: a
   * provider that makes one more each time it is asked would make a second.
   */
  | 'sleeps before'
  /** The act happens, and the machine stands still for 20 s. */
  | 'sleeps after';

export const mishaps: readonly Mishap[] = [
  'fails',
  'happens, but seems to fail',
  'happens, but is never answered',
  'is refused',
  'dies before',
  'dies after',
  'sleeps after',
];

/** A machine with an engine and a line of its own; `acts` names what it has done so far. */
export interface Machine {
  readonly engine: TestProcess;
  readonly line: Line;
  readonly acts: string[];
  isDead(): boolean;
}

const never = new Promise<never>(() => undefined);
const SLEEP_MS = 20_000;

/**
 * @param clocks the machine's own, and that by which the others see it sleep
 * @param plan what happens at which act, counted from 0
 */
export const createMachine = (
  stores: Stores,
  clocks: { readonly world: Clock; readonly own: Clock },
  plan: ReadonlyMap<number, Mishap> = new Map(),
): Machine => {
  const acts: string[] = [];
  let asleep: Promise<void> = Promise.resolve();
  let dead = false;

  const awake = async (): Promise<void> => {
    await asleep;
    if (dead) await never;
  };

  const act = async <Result>(
    name: string,
    carryOut: () => Promise<Result>,
    faults: {
      readonly failed: () => Error;
      readonly seemsFailed: () => Error;
      readonly refused: () => Error;
      readonly hangs: boolean;
    },
  ): Promise<Result> => {
    await awake();
    const mishap = plan.get(acts.length);
    acts.push(name);
    if (mishap === 'fails') throw faults.failed();
    if (mishap === 'is refused') throw faults.refused();
    if (mishap === 'dies before') dead = true;
    if (mishap === 'sleeps before') asleep = sleep(clocks.world, SLEEP_MS);
    await awake();
    const result = await carryOut();
    if (mishap === 'happens, but seems to fail') throw faults.seemsFailed();
    if (mishap === 'happens, but is never answered') {
      if (faults.hangs) await never;
      throw faults.seemsFailed();
    }
    if (mishap === 'dies after') dead = true;
    if (mishap === 'sleeps after') asleep = sleep(clocks.world, SLEEP_MS);
    await awake();
    return result;
  };

  const { eventStore } = stores;
  async function* subscribe(options: Parameters<EventStore['subscribe']>[0]) {
    for await (const slice of eventStore.subscribe(options)) {
      await awake();
      yield slice;
    }
  }
  const ownStore: EventStore = {
    append: (stream, events, expected) =>
      act(`append ${events.map(({ type }) => type).join(', ')}`, () => eventStore.append(stream, events, expected), {
        failed: () => new EventStoreUnavailable('the store is away'),
        refused: () => new EventStoreUnavailable('the store is away'),
        seemsFailed: () => new OutcomeUnknown('no answer'),
        hangs: false,
      }),
    drop: (stream, head) => eventStore.drop(stream, head),
    moment: () => eventStore.moment(),
    readStream: async (stream, options) => {
      await awake();
      return eventStore.readStream(stream, options);
    },
    readAll: (options) => eventStore.readAll(options),
    lastPosition: (filter) => eventStore.lastPosition(filter),
    subscribe,
    close: () => Promise.resolve(),
  };

  return {
    engine: engineOn({ ...stores, eventStore: ownStore }, { clock: clocks.own }),
    line: (call, carryOut) =>
      act(call, () => Promise.resolve(carryOut()), {
        failed: transientFault,
        refused: () => permanentFault('The account is closed'),
        seemsFailed: transientFault,
        hangs: true,
      }),
    acts,
    isDead: () => dead,
  };
};

/**
 * Turns of the event loop that are enough for everything that can go on without time passing to go
 * on.
 */
const TURNS = 30;

/** Stops workers that let time pass before they give up what is under way. */
export const stopInVirtualTime = async (clock: TestClock, ...workers: readonly Pick<Worker, 'stop'>[]): Promise<void> => {
  let areStopped = false;
  const stopped = Promise.all(workers.map((worker) => worker.stop())).then(() => (areStopped = true));
  await Promise.race([stopped, passTimeUntil(clock, () => Promise.resolve(areStopped))]);
};

/**
 * Lets things go on until `isDone`, moving time on by `stepMs` whenever nothing else can happen.
 * @throws after `withinMs` of virtual time
 */
export const passTimeUntil = async (
  clock: TestClock,
  isDone: () => Promise<boolean>,
  { withinMs = 3 * 3_600_000, stepMs = 500 } = {},
): Promise<void> => {
  const giveUpAt = clock.now() + withinMs;
  for (;;) {
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
    if (await isDone()) return;
    if (clock.now() > giveUpAt) throw new Error(`it did not happen within ${withinMs} ms`);
    await clock.advance(stepMs);
  }
};
