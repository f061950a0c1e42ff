import type { Recorded } from '../../events/envelope.js';
import { EventStoreUnavailable, type EventStore, type LogSlice, type StoredEvent } from '../../events/store/eventStore.js';
import type { Clock } from '../../platform/clock.js';
import { nextTurnAlone } from '../../platform/eventLoop.js';
import type { AnyProjection } from '../projection.js';
import type { ReadModel, ReadModelStore } from '../store/readModelStore.js';
import { foldEvents, noDocuments, writeDocuments, type Decode, type FoldedDocuments } from './fold.js';
import { parkedDocuments } from './parkedDocuments.js';
import type { TermSource } from './personalTerms.js';

/**
 * Folds a long part of the log into read models. Those that are under way at the same time share
 * what they read: each event is read and decoded once, however many they are.
 */
export interface CatchUp {
  /**
   * Folds from the stored checkpoint up to `through`, which the log has reached, and stores it.
   * Resolves with the number of events.
   *
   * @throws ProjectionFailed: the documents reflect every event before that one
   * @throws the signal's reason, after a write; ReadModelDropped, EventStoreUnavailable,
   *   ReadModelStoreUnavailable
   */
  readonly run: (into: CatchUpTarget) => Promise<number>;
}

export interface CatchUpTarget {
  readonly projection: AnyProjection;
  readonly model: ReadModel;
  readonly through: bigint;
  readonly signal?: AbortSignal | undefined;
  /** Called after each write. */
  readonly onWritten?: (written: CatchUpWrite) => void;
}

export interface CatchUpWrite {
  /** Folded so far. */
  readonly events: number;
  /** The stored checkpoint. */
  readonly position: bigint;
  /** Documents that the store cannot hold, which are parked now. */
  readonly parked: readonly string[];
}

export interface CatchUpParts {
  readonly eventStore: EventStore;
  readonly readModels: ReadModelStore;
  readonly decode: Decode;
  /** For projections that personal data is found by. */
  readonly personal?: TermSource;
  readonly clock: Clock;
}

/** Who has so much less left than another does not wait for the other. */
const littleShare = 10n;

export interface CatchUpOptions {
  /**
   * How long a write may take, in ms: embedded, nothing else in the process runs meanwhile, and no
   * other process writes. Longer ones are fewer and take less of all. Default: 20
   */
  readonly writeMs?: number;
}

/** A read model that is being caught up. */
interface Member extends CatchUpTarget {
  readonly types: ReadonlySet<string>;
  readonly documents: FoldedDocuments;
  readonly parked: Set<string>;
  position: bigint;
  events: number;
  eventsWritten: number;
  readonly resolve: (events: number) => void;
  readonly reject: (fault: unknown) => void;
}

/** Larger batches outlive the young generation of the garbage collector, and are slower. */
const batchSize = 500;
/**
 * The events between two writes. More of them cost more after an interruption; fewer write a busy
 * document more often.
 */
const eventsPerWrite = 50_000;
/** Documents in a write: as many as take about `writeMs`. */
const [minPerWrite, maxPerWrite] = [100, 10_000];
/** Documents kept in memory, of all read models. Others are read again as needed. */
const maxDocumentsKept = 40_000;
/** How long other work in the process waits. */
const turnMs = 10;

export const createCatchUp = (parts: CatchUpParts, { writeMs = 20 }: CatchUpOptions = {}): CatchUp => {
  const { eventStore, readModels, decode, personal, clock } = parts;
  let documentsPerWrite = 500;
  let turnBegunAt = 0;
  const members = new Set<Member>();
  let isRunning = false;
  /** Called when one joins or is aborted: what is to be read next may be other than before. */
  let choose = (): void => undefined;

  const leave = (member: Member): boolean => members.delete(member);

  /** Drops documents that were changed long ago, and are written, of those that hold the most. */
  const dropOldest = (): void => {
    const held = [...members].map(({ documents }) => documents).sort((a, b) => b.byId.size - a.byId.size);
    let tooMany = held.reduce((sum, { byId }) => sum + byId.size, 0) - maxDocumentsKept;
    for (const { byId, unwritten } of held) {
      for (const id of byId.keys()) {
        if (tooMany <= 0) return;
        if (unwritten.has(id)) continue;
        byId.delete(id);
        tooMany -= 1;
      }
    }
  };

  const write = async (member: Member): Promise<void> => {
    const { model, documents, parked } = member;
    const [begunAt, isWhole] = [clock.now(), documents.unwritten.size >= documentsPerWrite];
    const refused = await writeDocuments(readModels, model, documents, member.position);
    const took = clock.now() - begunAt;
    if (took > writeMs) documentsPerWrite = Math.max(minPerWrite, documentsPerWrite / 2);
    else if (isWhole && took < writeMs / 2) documentsPerWrite = Math.min(maxPerWrite, documentsPerWrite * 2);
    for (const id of refused) parked.add(id);
    member.eventsWritten = member.events;
    dropOldest();
    member.onWritten?.({ events: member.events, position: member.position, parked: refused });
  };

  const fold = async (member: Member, { events, position }: LogSlice, decodeOnce: Decode): Promise<void> => {
    const { projection, model, types, documents, parked, through } = member;
    const own = events.filter(({ type }) => types.has(type));
    const load = async (ids: readonly string[]) => [...(await readModels.getMany(model, ids)).values()];
    const failure = await foldEvents(projection, decodeOnce, own, documents, parked, load, personal);
    if (failure !== null) {
      member.position = own.findLast((event) => event.position < failure.position)?.position ?? member.position;
      if (documents.unwritten.size > 0) await write(member);
      throw failure;
    }
    member.events += own.length;
    member.position = position;
    const isDue = documents.unwritten.size >= documentsPerWrite || member.events - member.eventsWritten >= eventsPerWrite;
    if (isDue || position >= through) await write(member);
    if (position >= through && leave(member)) member.resolve(member.events);
  };

  /** Before its time; what was folded is not folded again. */
  const end = async (member: Member, reason: unknown): Promise<void> => {
    if (!leave(member)) return;
    try {
      if (member.documents.unwritten.size > 0) await write(member);
      member.reject(reason);
    } catch (fault) {
      member.reject(fault);
    }
  };

  const giveWay = async (): Promise<void> => {
    if (clock.now() - turnBegunAt < turnMs) return;
    await nextTurnAlone();
    turnBegunAt = clock.now();
  };

  /** Those to read for next: those with little left before the others. */
  const nextMembers = (): readonly Member[] => {
    const all = [...members].map((member) => ({ member, left: member.through - member.position }));
    const most = all.reduce((max, { left }) => (left > max ? left : max), 0n);
    const few = all.filter(({ left }) => left * littleShare < most);
    return (few.length > 0 ? few : all).map(({ member }) => member);
  };

  /** Reads on behind the one that is furthest behind of them, until the members to read for are others. */
  const readOn = async (): Promise<void> => {
    const all = nextMembers();
    const position = all.reduce((first, member) => (member.position < first ? member.position : first), all[0]?.position ?? 0n);
    const reading = all.filter((member) => member.position === position);
    /** Where the next one waits for these. */
    const limit = all.reduce<bigint | null>(
      (next, member) => (member.position > position && (next === null || member.position < next) ? member.position : next),
      null,
    );
    const types = [...new Set(reading.flatMap((member) => [...member.types]))];
    const changed = new AbortController();
    choose = () => {
      changed.abort();
    };
    try {
      const slices = eventStore.subscribe({ after: position, filter: { types }, maxBatch: batchSize, signal: changed.signal });
      for await (const slice of slices) {
        const part = upTo(slice, limit);
        const decodeOnce = memoised(decode);
        for (const member of reading) {
          try {
            await fold(member, part, decodeOnce);
            await giveWay();
          } catch (fault) {
            leave(member);
            member.reject(fault);
          }
        }
        if (part.position === limit || reading.some((member) => !members.has(member))) return;
      }
      if (!changed.signal.aborted) throw new EventStoreUnavailable('the subscription ended');
    } catch (fault) {
      for (const member of reading) await end(member, fault);
    }
  };

  const run = async (): Promise<void> => {
    isRunning = true;
    while (members.size > 0) {
      for (const member of members) if (member.signal?.aborted === true) await end(member, member.signal.reason);
      if (members.size > 0) await readOn();
    }
    isRunning = false;
  };

  return {
    run: async (target) => {
      const { projection, model, through } = target;
      const position = await readModels.checkpoint(model);
      if (position >= through) return 0;
      const parked = new Set((await parkedDocuments(model, readModels)).map(({ id }) => id));
      target.signal?.throwIfAborted();
      return new Promise((resolve, reject) => {
        const types = new Set(projection.handles);
        const begun = { documents: noDocuments(), parked, position, events: 0, eventsWritten: 0 };
        members.add({ ...target, ...begun, types, resolve, reject });
        const onAbort = (): void => {
          choose();
        };
        target.signal?.addEventListener('abort', onAbort, { once: true });
        choose();
        if (!isRunning) void run();
      });
    },
  };
};

const upTo = (slice: LogSlice, limit: bigint | null): LogSlice =>
  limit === null || slice.position <= limit
    ? slice
    : { events: slice.events.filter((event) => event.position <= limit), position: limit };

const memoised = (decode: Decode): Decode => {
  const decoded = new Map<StoredEvent, Recorded | undefined>();
  return (stored) => {
    if (decoded.has(stored)) return decoded.get(stored);
    const event = decode(stored);
    decoded.set(stored, event);
    return event;
  };
};
