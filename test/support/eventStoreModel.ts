import {
  CorruptedRetry,
  NO_STREAM,
  WrongExpectedRevision,
  type EventFilter,
  type ExpectedRevision,
  type NewEvent,
  type ReadStreamOptions,
} from '../../src/events/store/eventStore.js';

export interface ModelEvent extends NewEvent {
  readonly stream: string;
  readonly revision: bigint;
}

/**
 * A model of the event store as lists in memory, which the contract suite compares with. Positions
 * are indexes into `log`.
 */
export class EventStoreModel {
  readonly log: ModelEvent[] = [];

  stream(name: string): readonly ModelEvent[] {
    return this.log.filter(({ stream }) => stream === name);
  }

  /** Returns the last event of the append, or of the earlier append that this one repeats. */
  append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): ModelEvent {
    const present = this.stream(stream);
    const head = BigInt(present.length - 1);
    const known = events.map(({ id }) => present.find((event) => event.id === id));
    const wrong = new WrongExpectedRevision(stream, expected, head);
    if (expected === 'exists' && head === NO_STREAM) throw wrong;
    if (typeof expected === 'bigint') {
      if (expected > head) throw wrong;
      if (expected < head && known[0]?.revision !== expected + 1n) throw wrong;
    }
    if (known.some((event) => event !== undefined)) {
      const last = known.at(-1);
      if (last === undefined || known.includes(undefined)) throw new CorruptedRetry(stream);
      return last;
    }
    for (const [index, event] of events.entries()) this.log.push({ ...event, stream, revision: head + 1n + BigInt(index) });
    return this.stream(stream).at(-1) as ModelEvent;
  }

  readStream(name: string, { direction = 'forwards', from, max = 1_000 }: ReadStreamOptions): readonly ModelEvent[] {
    const events = this.stream(name);
    const ordered = direction === 'forwards' ? events : [...events].reverse();
    const wanted = ordered.filter(
      ({ revision }) => from === undefined || (direction === 'forwards' ? revision >= from : revision <= from),
    );
    return wanted.slice(0, max);
  }

  /** The first `max` matching events after the first `after` of the log. */
  readAll(after: number, max: number, { streamPrefixes, types }: EventFilter): readonly ModelEvent[] {
    const matches = ({ stream, type }: ModelEvent): boolean =>
      (streamPrefixes?.some((prefix) => stream.startsWith(prefix)) ?? true) && (types?.includes(type) ?? true);
    return this.log.slice(after).filter(matches).slice(0, max);
  }
}
