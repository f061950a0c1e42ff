import { logEvents } from '../../events/log/log.events.js';
import { logStream } from '../../events/log/log.stream.js';
import {
  EventStoreUnavailable,
  NO_STREAM,
  WrongExpectedRevision,
  type EventStore,
  type LogSlice,
  type SubscribeOptions,
} from '../../events/store/eventStore.js';
import { isoTime, type Clock } from '../../platform/clock.js';
import { createIds, eventId } from '../../platform/ids.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import type { AnyProjection } from '../projection.js';
import { ReadModelDropped, type ReadModelStore, type RecordStore } from '../store/readModelStore.js';
import { replaceReadModelsAhead } from './replaceAhead.js';
import { modelOf } from './versions.js';

/** The read models were folded from another log. Nothing is read from this log or written to it. */
export class OtherLog extends EventStoreUnavailable {
  constructor() {
    super('the read models belong to another log');
  }
}

interface Parts {
  readonly eventStore: EventStore;
  readonly readModels: ReadModelStore;
  readonly projections: readonly AnyProjection[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger?: Pick<Logger, 'warn'>;
  /** What else must belong to the log, by its identity; it throws when something does not. */
  readonly alsoVerify?: (log: string) => Promise<void>;
}

/**
 * Guards against read models, and positions of workers beside them, that were made from another
 * log: they would silently give wrong answers. The first start on a log appends its identity, and
 * the read models store the identity of their log.
 *
 * `verify` compares the two, and replaces read models that are ahead of a log which was restored
 * (`replaceReadModelsAhead`). The returned event store lets no call through before a verification
 * has succeeded, so that a log that is unavailable at the start is verified when it is back.
 *
 * @throws OtherLog, or what `alsoVerify` throws, from `verify` and from every call of the store; faults of the two stores, after
 * which the next call verifies again
 */
export const guardLogIdentity = (parts: Parts): { readonly eventStore: EventStore; readonly verify: () => Promise<void> } => {
  const { eventStore } = parts;
  let isVerified = false;
  let underWay: Promise<void> | null = null;

  const verifyOnce = async (): Promise<void> => {
    try {
      const log = await verifyLogIdentity(parts);
      await parts.alsoVerify?.(log);
      await replaceReadModelsAhead(parts);
      isVerified = true;
    } finally {
      underWay = null;
    }
  };
  const verify = (): Promise<void> => (underWay ??= verifyOnce());

  const verified = <Result>(call: () => Promise<Result>): Promise<Result> => (isVerified ? call() : verify().then(call));

  async function* subscribeVerified(options: SubscribeOptions): AsyncGenerator<LogSlice, void> {
    await verify();
    yield* eventStore.subscribe(options);
  }

  return {
    verify,
    eventStore: {
      append: (stream, events, expected) => verified(() => eventStore.append(stream, events, expected)),
      drop: (stream, head) => verified(() => eventStore.drop(stream, head)),
      moment: () => eventStore.moment(),
      readStream: (stream, options) => verified(() => eventStore.readStream(stream, options)),
      readAll: (options) => verified(() => eventStore.readAll(options)),
      lastPosition: (filter) => verified(() => eventStore.lastPosition(filter)),
      subscribe: (options) => (isVerified ? eventStore.subscribe(options) : subscribeVerified(options)),
      close: () => eventStore.close(),
    },
  };
};

/** Where read models, and the records that outlive them, have the identity of their log. */
const identityRecord = { collection: 'log', key: 'name' } as const;

const verifyLogIdentity = async (parts: Parts): Promise<string> => {
  const { modelRecords, records } = parts.readModels;
  const log = await identityOf(parts);
  await verifyRecords(log, modelRecords, () => mayBelongTogether(parts));
  // Records without an identity are new, or were beside the read models until now.
  await verifyRecords(log, records, () => Promise.resolve(true));
  return log;
};

const verifyRecords = async (log: string, records: RecordStore, mayBelong: () => Promise<boolean>): Promise<void> => {
  const { collection, key } = identityRecord;
  const stored = await records.get(collection, key);
  if (stored !== null) {
    if (stored['log'] !== log) throw new OtherLog();
    return;
  }
  if (!(await mayBelong())) throw new OtherLog();
  // Another process may store an identity first, perhaps that of another log.
  if (!(await records.insert(collection, key, { log }))) await verifyRecords(log, records, mayBelong);
};

const logName = logStream.name({});

/** The identity of a log, the id of its first own event; `null` before its first start. */
export const readLogIdentity = async (eventStore: Pick<EventStore, 'readStream'>): Promise<string | null> =>
  (await eventStore.readStream(logName, { max: 1 })).events[0]?.id ?? null;

/** The identity of the log, which is appended when there is none. */
const identityOf = async (parts: Parts): Promise<string> => {
  const { eventStore, clock, random } = parts;
  const named = await readLogIdentity(eventStore);
  if (named !== null) return named;
  const commandId = createIds(clock, random).commandId();
  const metadata = {
    at: isoTime(clock.now()),
    actor: { subject: 'start', role: 'system', via: 'worker' },
    requestId: 'start',
    correlationId: commandId,
    causationId: commandId,
  } as const;
  const { schemaVersion } = logEvents.LogNamed;
  // Without the codec: to compile its first schema takes longer than the rest of a start.
  const event = { id: eventId(commandId, logName, 0), type: 'LogNamed', schemaVersion, data: {}, metadata };
  try {
    await eventStore.append(logName, [event], NO_STREAM);
    return event.id;
  } catch (error) {
    if (!(error instanceof WrongExpectedRevision)) throw error;
    return identityOf(parts);
  }
};

/**
 * Whether read models without an identity, as earlier versions left them, may have been made from
 * this log: it reaches as far as they do, and has the streams of their documents.
 */
const mayBelongTogether = async (parts: Parts): Promise<boolean> => {
  try {
    for (const projection of parts.projections) if (!(await mayBeFoldedFrom(parts, projection))) return false;
    return true;
  } catch (error) {
    // Another process has published a version meanwhile.
    if (error instanceof ReadModelDropped) return mayBelongTogether(parts);
    throw error;
  }
};

const mayBeFoldedFrom = async ({ eventStore, readModels }: Parts, projection: AnyProjection): Promise<boolean> => {
  const live = await readModels.liveVersion(projection.name);
  if (live === null) return true;
  const model = modelOf(projection, live);
  if ((await readModels.checkpoint(model)) > (await eventStore.lastPosition())) return false;
  const [first] = await readModels.find(model, { order: 'ascending', limit: 1 });
  if (first === undefined || projection.stream === undefined) return true;
  const { head } = await eventStore.readStream(projection.stream(first.id), { max: 1 });
  return head >= first.revision;
};
