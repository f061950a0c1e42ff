import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  NO_STREAM,
  WrongExpectedRevision,
  type EventStore,
  type EventStoreError,
  type ExpectedRevision,
  type NewEvent,
  type StoredEvent,
} from '../../src/events/store/eventStore.js';
import { asWritten, freshCategory, newEvent } from './eventStoreEvents.js';
import type { EventStoreUnderTest } from './eventStoreHarness.js';
import { EventStoreModel, type ModelEvent } from './eventStoreModel.js';
import { inStorm } from './storm.js';

type Expectation = 'head' | 'none' | 'behind' | 'ahead' | 'any' | 'exists';

type Command =
  | { readonly do: 'append'; readonly stream: number; readonly types: readonly string[]; readonly expected: Expectation }
  | { readonly do: 'repeat'; readonly append: number }
  | { readonly do: 'repeat in part'; readonly append: number }
  | {
      readonly do: 'read stream';
      readonly stream: number;
      readonly backwards: boolean;
      readonly from: number | null;
      readonly max: number;
    }
  | {
      readonly do: 'read log';
      readonly after: number;
      readonly max: number;
      readonly prefixes: readonly number[] | null;
      readonly types: readonly string[] | null;
    };

const stream = fc.nat(2);
const types = fc.array(fc.constantFrom('Opened', 'Changed', 'Closed'), { minLength: 1, maxLength: 3 });
const expected = fc.constantFrom<Expectation>('head', 'head', 'head', 'none', 'behind', 'ahead', 'any', 'exists');
const append = fc.record({ do: fc.constant('append' as const), stream, types, expected });

const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: append },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('repeat' as const), append: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('repeat in part' as const), append: fc.nat(20) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('read stream' as const),
      stream,
      backwards: fc.boolean(),
      from: fc.option(fc.nat(12)),
      max: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('read log' as const),
      after: fc.nat(30),
      max: fc.integer({ min: 1, max: 10 }),
      prefixes: fc.option(fc.uniqueArray(stream, { minLength: 1 })),
      types: fc.option(types),
    }),
  },
);

/** Runs random histories and compares every answer with the model's. */
export const modelCases = (under: () => EventStoreUnderTest): void => {
  test(
    '1–18 a random history goes as the model says',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyCommand, { minLength: 5, maxLength: 40 }), async (commands) => {
          const run = new Run(under().store, freshCategory(), await under().store.lastPosition());
          for (const each of commands) await run.perform(each);
          await run.compareAll();
        }),
        { numRuns: inStorm({ short: 20, gate: 60, long: 1_000 }) },
      );
      // Some thousand calls, which go over the network to some adapters.
    },
    inStorm({ short: 60_000, gate: 240_000, long: 3_600_000 }),
  );
};

interface Appended {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly expected: ExpectedRevision;
}

/** One history, in streams of its own. */
class Run {
  readonly #store: EventStore;
  readonly #category: string;
  readonly #start: bigint;
  readonly #model = new EventStoreModel();
  readonly #appended: Appended[] = [];
  /** The store's position of each event of the model's log, by stream and revision. */
  readonly #positions = new Map<string, bigint>();

  constructor(store: EventStore, category: string, start: bigint) {
    this.#store = store;
    this.#category = category;
    this.#start = start;
  }

  async perform(command: Command): Promise<void> {
    switch (command.do) {
      case 'append': {
        const name = this.#name(command.stream);
        const done = {
          stream: name,
          events: command.types.map((type) => newEvent(type)),
          expected: this.#revision(name, command.expected),
        };
        if (await this.#append(done)) this.#appended.push(done);
        return;
      }
      case 'repeat': {
        const earlier = this.#earlier(command.append);
        if (earlier !== undefined) await this.#append(earlier);
        return;
      }
      case 'repeat in part': {
        const earlier = this.#earlier(command.append);
        if (earlier !== undefined) await this.#append({ ...earlier, events: [...earlier.events.slice(0, 1), newEvent()] });
        return;
      }
      case 'read stream': {
        const name = this.#name(command.stream);
        const options = {
          direction: command.backwards ? ('backwards' as const) : ('forwards' as const),
          max: command.max,
          ...(command.from === null ? {} : { from: BigInt(command.from) }),
        };
        const slice = await this.#store.readStream(name, options);
        expect(slice.head).toBe(BigInt(this.#model.stream(name).length - 1));
        this.#compare(slice.events, this.#model.readStream(name, options));
        return;
      }
      case 'read log': {
        const after = Math.min(command.after, this.#model.log.length);
        const filter = {
          streamPrefixes: command.prefixes?.map((index) => this.#name(index)) ?? [this.#category],
          ...(command.types === null ? {} : { types: command.types }),
        };
        const last = this.#model.log[after - 1];
        const slice = await this.#store.readAll({
          after: last === undefined ? this.#start : this.#position(last),
          max: command.max,
          filter,
        });
        this.#compare(slice.events, this.#model.readAll(after, command.max, filter));
      }
    }
  }

  async compareAll(): Promise<void> {
    const { events } = await this.#store.readAll({ after: this.#start, filter: { streamPrefixes: [this.#category] } });
    this.#compare(events, this.#model.log);
    for (const [index, { position }] of events.entries()) {
      if (index > 0) expect(position).toBeGreaterThan(events[index - 1]?.position ?? position);
    }
  }

  /** Appends to both, compares the outcomes, and returns whether the append was accepted. */
  async #append({ stream: name, events, expected: revision }: Appended): Promise<boolean> {
    let last: ModelEvent;
    try {
      last = this.#model.append(name, events, revision);
    } catch (refusal) {
      const appending = this.#store.append(name, events, revision);
      await expect(appending).rejects.toBeInstanceOf((refusal as EventStoreError).constructor);
      if (refusal instanceof WrongExpectedRevision) await expect(appending).rejects.toMatchObject({ actual: refusal.actual });
      return false;
    }
    const result = await this.#store.append(name, events, revision);
    expect(result.revision).toBe(last.revision);
    const { events: stored } = await this.#store.readStream(name, { from: last.revision, max: 1 });
    expect(result.position).toBe(stored[0]?.position);
    const known = this.#positions.get(place(last));
    if (known !== undefined) expect(result.position).toBe(known);
    const first = last.revision - BigInt(events.length - 1);
    for (const { revision: at, position } of (await this.#store.readStream(name, { from: first })).events)
      this.#positions.set(place({ stream: name, revision: at }), position);
    return true;
  }

  #compare(actual: readonly StoredEvent[], wanted: readonly ModelEvent[]): void {
    expect(actual.map((event) => ({ ...asWritten(event), stream: event.stream, revision: event.revision }))).toEqual(wanted);
    for (const event of actual) expect(event.position).toBe(this.#position(event));
  }

  #name(index: number): string {
    return `${this.#category}${String(index)}`;
  }

  #earlier(index: number): Appended | undefined {
    return this.#appended[index % Math.max(1, this.#appended.length)];
  }

  #position(event: { readonly stream: string; readonly revision: bigint }): bigint {
    const position = this.#positions.get(place(event));
    if (position === undefined) throw new Error(`no position was seen for ${place(event)}`);
    return position;
  }

  #revision(name: string, expectation: Expectation): ExpectedRevision {
    const head = BigInt(this.#model.stream(name).length - 1);
    switch (expectation) {
      case 'any':
      case 'exists':
        return expectation;
      case 'none':
        return NO_STREAM;
      case 'head':
        return head;
      case 'behind':
        return head > 0n ? head - 1n : NO_STREAM;
      case 'ahead':
        return head + 2n;
    }
  }
}

const place = ({ stream: name, revision }: { readonly stream: string; readonly revision: bigint }): string =>
  `${name}@${String(revision)}`;
