import type { EventMetadata, JsonObject } from '../../src/events/envelope.js';
import type { EventStore, LogSlice, NewEvent, StoredEvent, SubscribeOptions } from '../../src/events/store/eventStore.js';
import { systemClock } from '../../src/platform/clock.js';
import { createIds, entityId } from '../../src/platform/ids.js';
import { systemRandom } from '../../src/platform/random.js';

const ids = createIds(systemClock, systemRandom);

const metadata: EventMetadata = {
  at: '2026-01-01T00:00:00.000Z',
  actor: { subject: 'admin', role: 'admin', via: 'portal' },
  requestId: 'request',
  correlationId: 'correlation',
  causationId: 'causation',
};

/** An event with an id of its own. */
export const newEvent = (type = 'Happened', data: JsonObject = {}): NewEvent => ({
  id: ids.commandId(),
  type,
  schemaVersion: 1,
  data,
  metadata,
});

/** `count` events with `{ index }` as their data. */
export const newEvents = (count: number): readonly NewEvent[] =>
  Array.from({ length: count }, (_, index) => newEvent('Happened', { index }));

/** A new category of streams, with its `-`, so that tests can share a store. */
export const freshCategory = (): string => `test${entityId(ids.commandId(), 'category')}-`;

/** The name of a new stream. */
export const freshStream = (): string => `${freshCategory()}1`;

/** The event as it was written, without the fields that the store adds. */
export const asWritten = ({ id, type, schemaVersion, data, metadata: stored }: StoredEvent): NewEvent => ({
  id,
  type,
  schemaVersion,
  data,
  metadata: stored,
});

export const idsOf = (events: readonly NewEvent[]): readonly string[] => events.map(({ id }) => id);

/** A subscription without a signal, whose batches the test takes one by one. */
export const startFollowing = (
  store: EventStore,
  options: Omit<SubscribeOptions, 'signal'>,
): AsyncIterator<LogSlice, unknown> => {
  const subscription = store.subscribe({ ...options, signal: new AbortController().signal });
  return subscription[Symbol.asyncIterator]();
};

/** Subscribes to the log until `enough` returns true, and returns everything received. */
export const follow = async (
  store: EventStore,
  options: Omit<SubscribeOptions, 'signal'>,
  enough: (received: { readonly events: readonly StoredEvent[]; readonly position: bigint }) => boolean,
): Promise<{ events: readonly StoredEvent[]; slices: readonly LogSlice[] }> => {
  const events: StoredEvent[] = [];
  const slices: LogSlice[] = [];
  for await (const slice of store.subscribe({ ...options, signal: new AbortController().signal })) {
    slices.push(slice);
    events.push(...slice.events);
    if (enough({ events, position: slice.position })) break;
  }
  return { events, slices };
};

/** Every event of a category, read in small slices. */
export const readCategory = async (store: EventStore, category: string, max = 500): Promise<readonly StoredEvent[]> => {
  const events: StoredEvent[] = [];
  for (let after = 0n; ;) {
    const slice = await store.readAll({ after, max, filter: { streamPrefixes: [category] } });
    events.push(...slice.events);
    if (slice.events.length === 0) return events;
    after = slice.position;
  }
};
