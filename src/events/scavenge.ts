import { nextTurn } from '../platform/eventLoop.js';
import { auditedTypes } from './audited.js';
import type { Retention, StreamDefinition } from './defineStream.js';
import { START, WrongExpectedRevision, type EventStore, type StoredEvent } from './store/eventStore.js';

/** What a scavenge found, or dropped, of one category. */
export interface Scavenged {
  readonly category: string;
  readonly streams: number;
  readonly events: number;
}

const audited: ReadonlySet<string> = new Set(auditedTypes);

/** Longer streams are not ended ones. */
const MAX_EVENTS = 100;
const DAY_MS = 86_400_000;

/**
 * Finds the streams that may be dropped by the `retention` of their definition, and drops them if
 * asked to. The log is read once, and work goes on meanwhile: a stream to which something is
 * appended stays. It may be interrupted anywhere and repeated.
 * @param parts `now`: epoch ms; `signal`: ends it between two streams
 */
export const scavenge = async (parts: {
  readonly eventStore: EventStore;
  readonly streams: readonly StreamDefinition[];
  readonly now: number;
  readonly drop: boolean;
  readonly signal?: AbortSignal;
}): Promise<readonly Scavenged[]> => {
  const { eventStore, streams, now, drop, signal } = parts;
  const found = new Map<string, { streams: number; events: number }>();
  const retained = new Map<string, { readonly category: string; readonly retention: Retention }>();
  for (const { category, events, retention } of streams) {
    if (retention === undefined) continue;
    found.set(category, { streams: 0, events: 0 });
    for (const type of Object.keys(events)) retained.set(type, { category, retention });
  }

  const isEnd = (event: StoredEvent): boolean => {
    const { days, isEnd: endsIt } = retained.get(event.type)?.retention ?? never;
    return endsIt(event) && Date.parse(event.recordedAt) < now - days * DAY_MS;
  };

  /** @param last the event that ended the stream, unless others followed */
  const take = async (last: StoredEvent): Promise<void> => {
    const { stream, revision, type } = last;
    const { events, head } = await eventStore.readStream(stream, { max: MAX_EVENTS });
    if (head !== revision || events.some((event) => audited.has(event.type))) return;
    const isWhole = events.at(-1)?.id === last.id;
    // Without events it was dropped before, and perhaps not to its end.
    if (!isWhole && events.length > 0) return;
    try {
      if (drop) await eventStore.drop(stream, head);
    } catch (error) {
      if (error instanceof WrongExpectedRevision) return;
      throw error;
    }
    const count = found.get(retained.get(type)?.category ?? '');
    if (count === undefined || events.length === 0) return;
    count.streams += 1;
    count.events += events.length;
  };

  const isInterrupted = (): boolean => signal?.aborted === true;
  for (let after = START; !isInterrupted();) {
    const slice = await eventStore.readAll({ after, filter: { types: [...retained.keys()] } });
    for (const event of slice.events) if (!isInterrupted() && isEnd(event)) await take(event);
    if (slice.position <= after) break;
    after = slice.position;
    await nextTurn();
  }
  return [...found].map(([category, count]) => ({ category, ...count }));
};

const never: Retention = { days: 0, isEnd: () => false };
