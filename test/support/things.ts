import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, expect } from '@jest/globals';
import type { JsonObject, Recorded } from '../../src/events/envelope.js';
import { createEmbeddedEventStore } from '../../src/events/store/embedded/eventStore.js';
import { START, type EventStore, type NewEvent, type StoredEvent } from '../../src/events/store/eventStore.js';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import type { Logger, LogMethod } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import type { AnyProjection, ListProjection, Projection } from '../../src/projections/projection.js';
import type { Decode } from '../../src/projections/runner/foldDocuments.js';
import { personalTermsOf, type TermSource } from '../../src/projections/runner/personalTerms.js';
import { createProjector, type Projector } from '../../src/projections/runner/projector.js';
import { rebuildProjection, type RebuildParts } from '../../src/projections/runner/rebuild.js';
import { createEmbeddedReadModelStore } from '../../src/projections/store/embedded/embeddedReadModelStore.js';
import type { ReadModel, ReadModelStore } from '../../src/projections/store/readModelStore.js';
import { temporaryFolder } from './temporary.js';

/**
 * A small domain to try the runner on: things with a label, whose document counts nothing and
 * forgets nothing.
 */
export interface ThingEvent {
  readonly type: 'ThingAdded' | 'ThingLabelled' | 'ThingRemoved';
  readonly data: { readonly id: string; readonly label?: string };
}

export type ThingDocument = {
  readonly label: string;
  /**
   * Revisions folded since the thing was (last) added: a gap, a duplicate or a wrong order shows.
   */
  readonly revisions: readonly number[];
};

export const thingProjection: Projection<ThingDocument, ThingEvent> = {
  name: 'thing',
  version: 1,
  handles: ['ThingAdded', 'ThingLabelled', 'ThingRemoved'],
  ignores: [],
  documentId: ({ data }) => data.id,
  stream: (id) => `thing-${id}`,
  indexes: [{ field: 'label' }],
  evolve: (document, { type, data, revision }) => {
    if (type === 'ThingRemoved') return null;
    if (type === 'ThingLabelled' && document === null) return null;
    return { label: data.label ?? '', revisions: [...(document?.revisions ?? []), Number(revision)] };
  },
};

export const thingEvent = (type: string, id: string, label?: string): NewEvent => ({
  id: randomUUID(),
  type,
  schemaVersion: 1,
  data: { id, ...(label !== undefined && { label }) },
  metadata: {
    at: '2026-01-01T00:00:00.000Z',
    actor: { subject: 'ops', role: 'admin', via: 'portal' },
    requestId: 'request',
    correlationId: 'command',
    causationId: 'command',
  },
});

export const added = (id: string, label = id): NewEvent => thingEvent('ThingAdded', id, label);
export const labelled = (id: string, label: string): NewEvent => thingEvent('ThingLabelled', id, label);
export const removed = (id: string): NewEvent => thingEvent('ThingRemoved', id);

/** The read model of things in a version of its own. */
export const modelOf = (version: string): ReadModel => ({ name: 'thing', version, indexes: thingProjection.indexes });

export const decodeThing = ({ id, type, data, metadata, stream, revision, position }: StoredEvent): Recorded => ({
  type,
  data,
  id,
  stream,
  revision,
  position,
  metadata,
});

/**
 * What a read model of `projection` must hold: the whole log folded at once, document by document.
 */
export const freshFold = async (
  projection: AnyProjection,
  eventStore: EventStore,
  decode: Decode = decodeThing,
  personal?: TermSource,
): Promise<ReadonlyMap<string, JsonObject>> => {
  const documents = new Map<string, JsonObject>();
  const { handles, documentId, evolve } = projection as unknown as ListProjection;
  for (let after = START; ;) {
    const { events, position } = await eventStore.readAll({ after, max: 1_000 });
    for (const stored of events.filter(({ type }) => handles.includes(type))) {
      const event = decode(stored);
      if (event === undefined) continue;
      const id = documentId(event);
      const next = evolve(documents.get(id) ?? null, event, await personalTermsOf(projection, event, personal));
      if (next === null) documents.delete(id);
      else documents.set(id, next);
    }
    if (position <= after) return documents;
    after = position;
  }
};

/** What the version that answers reads holds. */
export const liveDocuments = async (
  projection: AnyProjection,
  readModels: ReadModelStore,
): Promise<ReadonlyMap<string, JsonObject>> => {
  const version = await readModels.liveVersion(projection.name);
  if (version === null) return new Map();
  const model: ReadModel = { name: projection.name, version, indexes: projection.indexes };
  const found = await readModels.find(model, { order: 'ascending', limit: 100_000 });
  return new Map(found.map(({ id, body }) => [id, body]));
};

/** The version that answers reads holds what the log says. */
export const expectFolded = async (
  projection: AnyProjection,
  readModels: ReadModelStore,
  eventStore: EventStore,
): Promise<void> => {
  expect(await liveDocuments(projection, readModels)).toEqual(await freshFold(projection, eventStore));
};

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A logger that records its lines. */
const keepingLogger = (): { logger: Logger; lines: LogLine[] } => {
  const lines: LogLine[] = [];
  const method =
    (level: LogLine['level']): LogMethod =>
    (...line: [string] | [Readonly<Record<string, unknown>>, string]) => {
      lines.push(line.length === 1 ? { level, fields: {}, message: line[0] } : { level, fields: line[0], message: line[1] });
    };
  const logger: Logger = {
    trace: method('info'),
    debug: method('info'),
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
    fatal: method('error'),
    child: () => logger,
  };
  return { logger, lines };
};

/**
 * The stores in a folder of their own, and projectors on them; all of it is closed after the test.
 */
export interface ThingWorld {
  readonly eventStore: EventStore;
  readonly readModels: ReadModelStore;
  readonly lines: readonly LogLine[];
  /** One more store on the same read models, as another process has. */
  readonly openReadModels: () => Promise<ReadModelStore>;
  /** Appends each to the stream of its thing; returns the last position. */
  readonly append: (...events: readonly NewEvent[]) => Promise<bigint>;
  readonly projector: (options?: Partial<Parameters<typeof createProjector>[0]>) => Projector;
}

const open: { readonly stop: () => Promise<unknown> }[] = [];

afterEach(async () => {
  for (const { stop } of open.splice(0).reverse()) await stop();
});

const inFile = (folder: string, clock: Clock): Promise<ReadModelStore> =>
  createEmbeddedReadModelStore({ file: join(folder, 'readModels.sqlite'), clock });

/**
 * @param openStore opens a read-model store on the data that belongs to the folder; by default the
 *   embedded one
 */
export const thingWorld = async (clock: Clock = systemClock, openStore = inFile): Promise<ThingWorld> => {
  const folder = temporaryFolder();
  const eventStore = await createEmbeddedEventStore({ file: join(folder, 'events.sqlite'), clock: systemClock });
  open.push({ stop: () => eventStore.close() });
  const openReadModels = async (): Promise<ReadModelStore> => {
    const store = await openStore(folder, clock);
    open.push({ stop: () => store.close() });
    return store;
  };
  const readModels = await openReadModels();
  const { logger, lines } = keepingLogger();

  return {
    eventStore,
    readModels,
    lines,
    openReadModels,
    append: async (...events) => {
      let position = START;
      for (const event of events) {
        ({ position } = await eventStore.append(`thing-${event.data['id'] as string}`, [event], 'any'));
      }
      return position;
    },
    projector: (options = {}) => {
      const projector = createProjector({
        projections: [thingProjection],
        eventStore,
        readModels,
        decode: decodeThing,
        clock,
        random: systemRandom,
        logger,
        ...options,
      });
      open.push({ stop: () => projector.stop() });
      return projector;
    },
  };
};

/** Resolves once the live version reflects `position`. */
export const untilReached = async (projection: AnyProjection, readModels: ReadModelStore, position: bigint): Promise<void> => {
  const version = await readModels.liveVersion(projection.name);
  const model: ReadModel = { name: projection.name, version: version ?? '', indexes: projection.indexes };
  if (!(await readModels.reached(model, position, AbortSignal.timeout(10_000))))
    throw new Error(`never reached ${String(position)}`);
};

export const rebuildThings = (world: ThingWorld, parts: Partial<RebuildParts> = {}): ReturnType<typeof rebuildProjection> =>
  rebuildProjection('thing', {
    projections: [thingProjection],
    eventStore: world.eventStore,
    readModels: world.readModels,
    decode: decodeThing,
    clock: systemClock,
    random: systemRandom,
    ...parts,
  });
