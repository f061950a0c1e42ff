import type { Codec } from './codec.js';
import type { Recorded } from './envelope.js';
import type { LogSubscription } from './logSubscription.js';
import { logStream } from './log/log.stream.js';
import { START, type EventStore, type StoredEvent } from './store/eventStore.js';

/** What was recorded, as it happens, for readers who come and go. */
export interface ChangeFeed {
  /**
   * Follows the log until `signal` is aborted. A reader who is slow costs bounded memory: what is
   * not taken is read from the log again.
   *
   * The first item is `ready`, or, when it goes on after a place, what was missed. It is `reset` when
   * that cannot be told: the place is of another log, beyond the end of this one, or too far back.
   * @throws EventStoreUnavailable; UnknownEvent of an event that this build does not know
   */
  readonly follow: (options: FollowOptions) => AsyncGenerator<FeedItem, void>;
}

export interface FollowOptions {
  /** The types to follow. */
  readonly types: ReadonlySet<string>;
  /** Only what names this website. Absent: everything. */
  readonly websiteId?: string | undefined;
  /** The place of the last item that the reader has. Absent: from now on. */
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
}

export type FeedItem =
  | { readonly kind: 'ready' | 'reset'; readonly place: string }
  | { readonly kind: 'change'; readonly place: string; readonly event: Recorded };

/** Events that wait for a reader in memory. */
const maxWaiting = 100;
/** Events that are read from the log at once. */
const pageSize = 100;
/** Events of the types, of any website, that are read for a reader who has missed some. */
const maxMissed = 2_000;

export const createChangeFeed = (parts: {
  readonly eventStore: EventStore;
  readonly codec: Codec;
  readonly subscription: LogSubscription;
}): ChangeFeed => {
  const { eventStore, codec, subscription } = parts;

  /** The name of this log in places: positions of another log mean nothing here. */
  let logName: string | undefined;
  const nameOfLog = async (): Promise<string> => {
    if (logName === undefined) {
      const { events } = await eventStore.readStream(logStream.name({}), { max: 1 });
      logName = events[0]?.id.replaceAll('-', '').slice(-8);
    }
    return logName ?? 'unnamed';
  };

  async function* follow({ types, websiteId, after, signal }: FollowOptions): AsyncGenerator<FeedItem, void> {
    const log = await nameOfLog();
    const placeAt = (position: bigint): string => `${log}-${String(position)}`;
    const isWanted = ({ type, data }: StoredEvent): boolean =>
      types.has(type) && (websiteId === undefined || data.websiteId === websiteId);
    const toItem = (event: StoredEvent): FeedItem => ({
      kind: 'change',
      place: placeAt(event.position),
      event: codec.decode(event),
    });

    /** The reader has everything up to here. */
    let position = START;
    let waiting: StoredEvent[] = [];
    let isBehind = false;
    const ended: { fault?: { readonly error: unknown } } = {};
    let wake = (): void => undefined;
    await subscription.listen(
      {
        topics: [websiteId === undefined ? 'everything' : `website ${websiteId}`],
        onEvent: (event) => {
          if (isBehind || event.position <= position || !isWanted(event)) return;
          if (waiting.length >= maxWaiting) {
            isBehind = true;
            waiting = [];
          } else waiting.push(event);
          wake();
        },
        onFault: (error) => {
          ended.fault = { error };
          wake();
        },
      },
      signal,
    );
    const onAbort = (): void => {
      wake();
    };
    signal.addEventListener('abort', onAbort, { once: true });

    // After the listening has begun, so that nothing is missed between the two.
    const end = await eventStore.lastPosition();
    const place = after === undefined ? null : positionIn(after, log);
    position = place === null || place > end ? end : place;
    if (position === place) isBehind = true;
    else yield { kind: after === undefined ? 'ready' : 'reset', place: placeAt(position) };

    const isOpen = (): boolean => !signal.aborted;
    while (isOpen()) {
      if (ended.fault !== undefined) throw ended.fault.error;
      if (isBehind) {
        // What comes from now on waits again; what came before is in the log.
        isBehind = false;
        const through = await eventStore.lastPosition();
        for (let read = 0; position < through && isOpen();) {
          const slice = await eventStore.readAll({ after: position, max: pageSize, filter: { types: [...types] } });
          for (const event of slice.events) {
            position = event.position;
            if (isWanted(event) && isOpen()) yield toItem(event);
          }
          position = slice.position;
          read += slice.events.length;
          if (read < maxMissed || position >= through) continue;
          position = await eventStore.lastPosition();
          yield { kind: 'reset', place: placeAt(position) };
          break;
        }
        continue;
      }
      const next = waiting.shift();
      if (next === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else if (next.position > position) {
        position = next.position;
        yield toItem(next);
      }
    }
  }

  return { follow };
};

/** The position that a place names; `null` when it is none of this log. */
const positionIn = (place: string, log: string): bigint | null => {
  const [, name, position] = /^(\w{1,8})-(\d{1,19})$/.exec(place) ?? [];
  return name === log && position !== undefined ? BigInt(position) : null;
};
