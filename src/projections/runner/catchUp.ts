import type { Recorded } from '../../events/envelope.js';
import { EventStoreUnavailable, START, type EventStore, type LogSlice, type StoredEvent } from '../../events/store/eventStore.js';
import type { Clock } from '../../platform/clock.js';
import { nextTurnAlone } from '../../platform/eventLoop.js';
import type { AnyProjection } from '../projection.js';
import type { ReadModel } from '../store/readModelStore.js';
import { createCatchUpWriter, minPerWrite, type CatchUpWriterOptions } from './catchUpWriter.js';
import { foldEvents, noDocuments, takeUnwritten, type Decode, type FoldedDocuments, type FoldParts } from './foldDocuments.js';
import { parkedDocuments } from './parkedDocuments.js';

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

export interface CatchUpParts extends FoldParts {
  readonly eventStore: EventStore;
  readonly clock: Clock;
}

/** Who has so much less left than another does not wait for the other. */
const littleShare = 10n;

export interface CatchUpOptions extends CatchUpWriterOptions {
  /** How much of the log is worth the start of a thread that writes. Default: 20,000 positions */
  readonly bulkLength?: bigint;
}

/** A read model that is being caught up. */
interface Member extends CatchUpTarget {
  readonly types: ReadonlySet<string>;
  readonly documents: FoldedDocuments;
  readonly parked: Set<string>;
  /** Whether there is so much to write that it is worth a thread. */
  readonly inBulk: boolean;
  position: bigint;
  events: number;
  eventsWritten: number;
  /** Of the events since its last write, and since documents that were written were dropped for their size. */
  bytesUnwritten: number;
  bytesKept: number;
  /** Its documents that are being written, and when they are. */
  beingWritten: ReadonlySet<string>;
  written: Promise<void>;
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
/** Documents kept in memory, of all read models. Others are read again as needed. */
const maxDocumentsKept = 40_000;
/**
 * Of the log, between two writes, and behind the documents that one read model keeps: large documents take as
 * much as their events, several times over.
 */
const [bytesPerWrite, maxBytesKept] = [32_000_000, 64_000_000];
/** How long other work in the process waits. */
const turnMs = 10;

const none: ReadonlySet<string> = new Set();

export const createCatchUp = (parts: CatchUpParts, options: CatchUpOptions = {}): CatchUp => {
  const { eventStore, readModels, decode, personal, clock } = parts;
  const { bulkLength = 20_000n } = options;
  const writer = createCatchUpWriter(parts, options);
  let turnBegunAt = 0;
  const members = new Set<Member>();
  let isRunning = false;
  /** Called when one joins or is aborted: what is to be read next may be other than before. */
  let choose = (): void => undefined;

  const leave = (member: Member): boolean => members.delete(member);

  /** Drops documents that were changed long ago, and are written, of those that hold the most. */
  const dropOldest = (): void => {
    const held = [...members].sort((a, b) => b.documents.byId.size - a.documents.byId.size);
    let tooMany = held.reduce((sum, { documents }) => sum + documents.byId.size, 0) - maxDocumentsKept;
    for (const member of held) {
      const { documents, beingWritten } = member;
      const areLarge = member.bytesKept > maxBytesKept;
      if (areLarge) member.bytesKept = 0;
      for (const id of documents.byId.keys()) {
        if (tooMany <= 0 && !areLarge) break;
        if (documents.unwritten.has(id) || beingWritten.has(id)) continue;
        documents.byId.delete(id);
        documents.isWhole = false;
        tooMany -= 1;
      }
    }
  };

  const fail = (member: Member, fault: unknown): void => {
    if (leave(member)) choose();
    member.reject(fault);
  };

  const endWrite = (member: Member, written: CatchUpWrite): void => {
    for (const id of written.parked) {
      member.parked.add(id);
      // It was folded on meanwhile, perhaps.
      member.documents.unwritten.delete(id);
    }
    member.beingWritten = none;
    dropOldest();
    member.onWritten?.(written);
  };

  /** Begins to write what was folded, once its write before is done. Folding goes on meanwhile. */
  const startWrite = async (member: Member): Promise<void> => {
    await member.written;
    const writes = takeUnwritten(member.documents);
    // No later event changes them.
    if (member.projection.isAppendOnly === true) member.documents.byId.clear();
    const { position, events } = member;
    member.eventsWritten = events;
    member.bytesUnwritten = 0;
    member.beingWritten = new Set(writes.map(({ id }) => id));
    member.written = writer.write(member, writes, position, (refused) => {
      endWrite(member, { events, position, parked: refused });
    });
    member.written.catch((fault: unknown) => {
      fail(member, fault);
    });
  };

  const writeRest = async (member: Member): Promise<void> => {
    if (member.documents.unwritten.size > 0) await startWrite(member);
    await member.written;
  };

  const fold = async (member: Member, { events, position, bytes }: LogSlice, decodeOnce: Decode): Promise<void> => {
    const { types, documents, through, inBulk } = member;
    const own = events.filter(({ type }) => types.has(type));
    const failure = await foldEvents(member, own, { readModels, decode: decodeOnce, personal });
    if (failure !== null) {
      member.position = own.findLast((event) => event.position < failure.position)?.position ?? member.position;
      await writeRest(member);
      throw failure;
    }
    member.events += own.length;
    member.position = position;
    if (own.length > 0) {
      // Those of the others too: which of the events are the large ones, is not told.
      member.bytesUnwritten += bytes;
      member.bytesKept += bytes;
    }
    const unwritten = documents.unwritten.size;
    // The thread that writes would wait for more, and have more left at the end, when nothing is folded beside it.
    const isWriterIdle = inBulk && writer.isIdle() && unwritten >= minPerWrite;
    const isLong = member.events - member.eventsWritten >= eventsPerWrite || member.bytesUnwritten >= bytesPerWrite;
    if (isWriterIdle || isLong || unwritten >= writer.documentsPerWrite() || position >= through) await startWrite(member);
    if (position < through || !leave(member)) return;
    member.written.then(() => {
      member.resolve(member.events);
    }, member.reject);
  };

  /** Before its time; what was folded is not folded again. */
  const end = async (member: Member, reason: unknown): Promise<void> => {
    if (!leave(member)) return;
    try {
      await writeRest(member);
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

  /** Reads on behind the one that is furthest behind of them, until the members to read for are others. */
  const readOn = async (): Promise<void> => {
    const all = nextOf(members);
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
      const onAbort = (): void => {
        choose();
      };
      const caughtUp = new Promise<number>((resolve, reject) => {
        const types = new Set(projection.handles);
        const inBulk = through - position >= bulkLength;
        const counts = { events: 0, eventsWritten: 0, bytesUnwritten: 0, bytesKept: 0 };
        const begun = { documents: noDocuments(position === START), parked, inBulk, position };
        const writing = { beingWritten: none, written: Promise.resolve() };
        members.add({ ...target, ...begun, ...counts, ...writing, types, resolve, reject });
        target.signal?.addEventListener('abort', onAbort);
        choose();
        if (!isRunning) void run();
      });
      // A rebuild catches up several times with one signal.
      return caughtUp.finally(() => target.signal?.removeEventListener('abort', onAbort));
    },
  };
};

/** Those to read for next: those with little left before the others. */
const nextOf = (members: ReadonlySet<Member>): readonly Member[] => {
  const all = [...members].map((member) => ({ member, left: member.through - member.position }));
  const most = all.reduce((max, { left }) => (left > max ? left : max), 0n);
  const few = all.filter(({ left }) => left * littleShare < most);
  return (few.length > 0 ? few : all).map(({ member }) => member);
};

const upTo = (slice: LogSlice, limit: bigint | null): LogSlice =>
  limit === null || slice.position <= limit
    ? slice
    : { ...slice, events: slice.events.filter((event) => event.position <= limit), position: limit };

const memoised = (decode: Decode): Decode => {
  const decoded = new Map<StoredEvent, Recorded | undefined>();
  return (stored) => {
    if (decoded.has(stored)) return decoded.get(stored);
    const event = decode(stored);
    decoded.set(stored, event);
    return event;
  };
};
