import type { Codec } from './codec.js';
import type { Clock } from '../platform/clock.js';
import { nextTurn } from '../platform/eventLoop.js';
import type { Recorded } from './envelope.js';
import type { LogSubscription } from './logSubscription.js';
import { logStream } from './log/log.stream.js';
import { START, type EventStore, type StoredEvent } from './store/eventStore.js';

/** What was recorded, as it happens, for readers who come and go. */
export interface ChangeFeed {
  /**
   * Follows the log until `signal` is aborted. A reader who is slow costs bounded memory: what is
   * not taken is read from the log again. However many follow, they take a small part of the
   * processor's time: with many, or much that happens, items come later and more at once.
   *
   * The first item is `ready`, or, when it goes on after a place, what was missed. It is `reset` when
   * that cannot be told: the place is of another log, beyond the end of this one, or too far back.
   * @throws EventStoreUnavailable; UnknownEvent of an event that this build does not know
   */
  readonly follow: (options: FollowOptions) => AsyncGenerator<readonly FeedItem[], void>;
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

export type FeedItem = { readonly kind: 'ready' | 'reset'; readonly place: string } | FeedChange;

export interface FeedChange {
  readonly kind: 'change';
  readonly place: string;
  readonly event: Recorded;
}

/** Events that wait for a reader in memory, the same for all readers. */
const maxWaiting = 400;
/** Events that are read from the log at once. */
const pageSize = 100;
/** Events of the types, of any website, that are read for a reader who has missed some. */
const maxMissed = 2_000;

export const createChangeFeed = (parts: {
  readonly clock: Clock;
  readonly eventStore: EventStore;
  readonly codec: Codec;
  readonly subscription: LogSubscription;
}): ChangeFeed => {
  const { clock, eventStore, codec, subscription } = parts;
  const pacedWakes = createPacedWakes(clock);

  /** The name of this log in places: positions of another log mean nothing here. */
  let logName: string | undefined;
  const nameOfLog = async (): Promise<string> => {
    if (logName === undefined) {
      const { events } = await eventStore.readStream(logStream.name({}), { max: 1 });
      logName = events[0]?.id.replaceAll('-', '').slice(-8);
    }
    return logName ?? 'unnamed';
  };

  /** Events of the log are the same object for all who listen, and so is what it becomes. */
  const changes = new WeakMap<StoredEvent, FeedChange>();
  const toChange = (event: StoredEvent, place: string): FeedChange => {
    const change = changes.get(event) ?? { kind: 'change', place, event: codec.decode(event) };
    changes.set(event, change);
    return change;
  };

  async function* follow({ types, websiteId, after, signal }: FollowOptions): AsyncGenerator<readonly FeedItem[], void> {
    const log = await nameOfLog();
    const placeAt = (position: bigint): string => `${log}-${String(position)}`;
    const isWanted = ({ type, data }: StoredEvent): boolean =>
      types.has(type) && (websiteId === undefined || data.websiteId === websiteId);
    const toItem = (event: StoredEvent): FeedItem => toChange(event, placeAt(event.position));

    /** The reader has everything up to here. */
    let position = START;
    let waiting: StoredEvent[] = [];
    let isBehind = false;
    const ended: { fault?: { readonly error: unknown } } = {};
    let wake = (): void => undefined;
    /** A reader who is busy waits for it too: otherwise they would take each event as it comes. */
    const turn = { hasCome: false };
    const onNews = (): void => {
      turn.hasCome = true;
      wake();
    };
    await subscription.listen(
      {
        topics: [websiteId === undefined ? 'everything' : `website ${websiteId}`],
        onEvent: (event) => {
          if (isBehind || event.position <= position || !isWanted(event)) return;
          if (waiting.length >= maxWaiting) {
            isBehind = true;
            waiting = [];
          } else waiting.push(event);
          pacedWakes.add(onNews);
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
    else yield [{ kind: after === undefined ? 'ready' : 'reset', place: placeAt(position) }];

    const isOpen = (): boolean => !signal.aborted;
    while (isOpen()) {
      if (ended.fault !== undefined) throw ended.fault.error;
      if (isBehind) {
        // What comes from now on waits again; what came before is in the log.
        isBehind = false;
        const through = await eventStore.lastPosition();
        for (let read = 0; position < through && isOpen();) {
          const slice = await eventStore.readAll({ after: position, max: pageSize, filter: { types: [...types] } });
          position = slice.position;
          const items = slice.events.filter(isWanted).map(toItem);
          if (items.length > 0) yield items;
          read += slice.events.length;
          if (read < maxMissed || position >= through) continue;
          position = await eventStore.lastPosition();
          yield [{ kind: 'reset', place: placeAt(position) }];
          break;
        }
        continue;
      }
      if (!turn.hasCome) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      turn.hasCome = false;
      const next = waiting.filter((event) => event.position > position);
      const last = next.at(-1);
      waiting = [];
      if (last === undefined) continue;
      position = last.position;
      yield next.map(toItem);
    }
  }

  return { follow };
};

/** Followers that are woken in one turn of the event loop. */
const wokenAtOnce = 10;
/** A round of wakes is followed by a pause so many times as long. */
const pauseForRound = 9;
const maxPauseMs = 2_000;

/**
 * Wakes followers in turn, a few in each turn of the event loop, and takes at most a tenth of its
 * time: what they send is not to delay what it tells of.
 */
const createPacedWakes = (clock: Clock): { readonly add: (wake: () => void) => void } => {
  let waiting = new Set<() => void>();
  let isRunning = false;

  const run = async (): Promise<void> => {
    while (waiting.size > 0) {
      const round = [...waiting];
      waiting = new Set();
      const begunAt = clock.now();
      for (let first = 0; first < round.length; first += wokenAtOnce) {
        for (const wake of round.slice(first, first + wokenAtOnce)) wake();
        await nextTurn();
      }
      const pauseMs = Math.min(maxPauseMs, pauseForRound * (clock.now() - begunAt));
      if (pauseMs > 0)
        await new Promise<void>((resolve) => {
          clock.schedule(pauseMs, resolve);
        });
    }
    isRunning = false;
  };

  return {
    add: (wake) => {
      waiting.add(wake);
      if (isRunning) return;
      isRunning = true;
      void run();
    },
  };
};

/** The position that a place names; `null` when it is none of this log. */
const positionIn = (place: string, log: string): bigint | null => {
  const [, name, position] = /^(\w{1,8})-(\d{1,19})$/.exec(place) ?? [];
  return name === log && position !== undefined ? BigInt(position) : null;
};
