import { logEvents } from '../../events/log/log.events.js';
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
import type { Random } from '../../platform/random.js';
import type { AnyProjection } from '../projection.js';
import { ReadModelDropped, type ReadModelStore } from '../store/readModelStore.js';
import { modelOf } from './versions.js';
import { logStream } from '../../events/log/log.stream.js';

/** The read models were folded from another log: nothing of this one is read or written. */
export class OtherLog extends EventStoreUnavailable {
  constructor() {
    super('the read models belong to another log');
  }
}

const logName = logStream.name({});

interface Parts {
  readonly eventStore: EventStore;
  readonly readModels: ReadModelStore;
  readonly projections: readonly AnyProjection[];
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Sees to it that read models, and the positions of workers beside them, stand over the log that they were made from: over another one
 * they would silently answer wrongly. The log is named by its first start; read models remember whose they are.
 *
 * `prove` looks now. The store in front lets nothing through before it has been proved, so that a log that is away at the start is looked
 * at when it is back.
 *
 * @throws OtherLog, from `prove` and from every call of the store; faults of the two stores, after which the next call looks again
 */
export const guardLog = (parts: Parts): { readonly eventStore: EventStore; readonly prove: () => Promise<void> } => {
  const { eventStore } = parts;
  let isProved = false;
  let underWay: Promise<void> | null = null;

  const look = async (): Promise<void> => {
    try {
      await proveOwn(parts);
      isProved = true;
    } finally {
      underWay = null;
    }
  };
  const prove = (): Promise<void> => (underWay ??= look());

  const use = <Result>(call: () => Promise<Result>): Promise<Result> => (isProved ? call() : prove().then(call));

  async function* follow(options: SubscribeOptions): AsyncGenerator<LogSlice, void> {
    await prove();
    yield* eventStore.subscribe(options);
  }

  return {
    prove,
    eventStore: {
      append: (stream, events, expected) => use(() => eventStore.append(stream, events, expected)),
      readStream: (stream, options) => use(() => eventStore.readStream(stream, options)),
      readAll: (options) => use(() => eventStore.readAll(options)),
      lastPosition: (filter) => use(() => eventStore.lastPosition(filter)),
      subscribe: (options) => (isProved ? eventStore.subscribe(options) : follow(options)),
      close: () => eventStore.close(),
    },
  };
};

const mark = { collection: 'log', key: 'name' } as const;

const proveOwn = async (parts: Parts): Promise<void> => {
  const { records } = parts.readModels;
  const log = await nameOf(parts);
  const ofModels = await records.get(mark.collection, mark.key);
  if (ofModels === null) {
    if (!(await mayBeOf(parts))) throw new OtherLog();
    if (await records.insert(mark.collection, mark.key, { log })) return;
    // Another process was faster: which log is it on?
    return proveOwn(parts);
  }
  if (ofModels['log'] !== log) throw new OtherLog();
};

/** Gives the log its name when it has none. */
const nameOf = async (parts: Parts): Promise<string> => {
  const { eventStore, clock, random } = parts;
  const [named] = (await eventStore.readStream(logName, { max: 1 })).events;
  if (named !== undefined) return named.id;
  const commandId = createIds(clock, random).commandId();
  const metadata = {
    at: isoTime(clock.now()),
    actor: { subject: 'start', role: 'system', via: 'worker' },
    requestId: 'start',
    correlationId: commandId,
    causationId: commandId,
  } as const;
  const { schemaVersion } = logEvents.LogNamed;
  // Not by the codec: to compile its first schema takes longer than the rest of a start.
  const event = { id: eventId(commandId, logName, 0), type: 'LogNamed', schemaVersion, data: {}, metadata };
  try {
    await eventStore.append(logName, [event], NO_STREAM);
    return event.id;
  } catch (error) {
    if (!(error instanceof WrongExpectedRevision)) throw error;
    return nameOf(parts);
  }
};

/**
 * Whether read models that remember no log, as versions before this one left them, may have been made from this one: it reaches as far as
 * they do, and has the streams of their documents.
 */
const mayBeOf = async (parts: Parts): Promise<boolean> => {
  try {
    for (const projection of parts.projections) if (!(await mayHaveMade(parts, projection))) return false;
    return true;
  } catch (error) {
    // Another process has published a version meanwhile.
    if (error instanceof ReadModelDropped) return mayBeOf(parts);
    throw error;
  }
};

const mayHaveMade = async ({ eventStore, readModels }: Parts, projection: AnyProjection): Promise<boolean> => {
  const live = await readModels.liveVersion(projection.name);
  if (live === null) return true;
  const model = modelOf(projection, live);
  if ((await readModels.checkpoint(model)) > (await eventStore.lastPosition())) return false;
  const [first] = await readModels.find(model, { order: 'ascending', limit: 1 });
  if (first === undefined) return true;
  const { head } = await eventStore.readStream(projection.stream(first.id), { max: 1 });
  return head >= first.revision;
};
