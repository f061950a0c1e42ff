import { contentStream } from '../../events/content/content.stream.js';
import { streamPrefix } from '../../events/defineStream.js';
import type { Recorded } from '../../events/envelope.js';
import { readableData, type ReadableData } from '../../events/readableEvent.js';
import type { PageRequest } from '../page.js';
import type { Reader } from '../reader.js';
import type { ListedDocument } from '../runner/readList.js';
import type { ReadModelQuery } from '../store/readModelStore.js';
import { auditProjection, auditTime, type AuditDocument } from './audit.projection.js';

/** What events an audit is of. Absent: all. */
export interface AuditFilter {
  readonly websiteId?: string;
  /** Subjects, as events hold them: by any of these. */
  readonly actors?: readonly string[];
  /** Ids of clients, and of the keys of personal data: about or by any of these. */
  readonly people?: readonly string[];
  /** Epoch ms, inclusive. */
  readonly from?: number;
  /** Epoch ms, inclusive. */
  readonly to?: number;
}

/** An event as the audit lists it. */
export interface AuditedEvent {
  /** Its place in the audit: unique, and later events have later ones. */
  readonly id: string;
  readonly event: Pick<Recorded, 'type' | 'metadata'> & ReadableData;
}

const selectionOf = ({ websiteId, actors, people, from, to }: AuditFilter): Pick<ReadModelQuery, 'where' | 'range'> => ({
  where: {
    ...(websiteId !== undefined && { websiteId }),
    ...(actors !== undefined && { actor: actors }),
    ...(people !== undefined && { people }),
  },
  range: {
    ...(from !== undefined && { from: auditTime(from) }),
    ...(to !== undefined && { before: auditTime(to + 1) }),
  },
});

/** After every id that begins with a place. */
const afterPlace = '~';

/**
 * One page of the audit, newest first unless `sort` says otherwise. Filters are answered by an index
 * of every event, and the events come from the log itself. As fresh as every list.
 * Personal data is decrypted as of now.
 * @throws as `Reader.list` and `Reader.slice`
 */
export const listAudit = async (
  reader: Reader,
  filter: AuditFilter,
  { limit, after, sort }: PageRequest,
): Promise<readonly AuditedEvent[]> => {
  const order = sort?.order ?? 'descending';
  const found = await reader.list(auditProjection, {
    ...selectionOf(filter),
    order,
    limit,
    ...(after !== undefined && { after: order === 'ascending' ? `${after}${afterPlace}` : after }),
  });
  return auditedEvents(reader, found);
};

const pageSize = 500;

/** The names of the streams in which the audit has such events. */
export const auditedStreams = async (reader: Reader, filter: AuditFilter): Promise<ReadonlySet<string>> => {
  const streams = new Set<string>();
  for (let after: string | undefined; ;) {
    const query = {
      ...selectionOf(filter),
      order: 'descending',
      limit: pageSize,
      ...(after !== undefined && { after }),
    } as const;
    const page = await reader.list(auditProjection, query);
    for (const document of page) streams.add(auditedPlace(document).stream);
    if (page.length < pageSize) return streams;
    await reader.giveWay();
    after = page.at(-1)?.id;
  }
};

/** Where an event stands: in the audit, and in the log. */
interface AuditedPlace extends EventPlace {
  readonly place: string;
}

/** Of the event that a document is of. */
export const auditedPlace = ({ id, revision, body: { stream } }: ListedDocument<AuditDocument>): AuditedPlace => {
  if (stream !== undefined) return { place: id, stream, revision };
  // Version 2: the place, the revision and the stream, which may hold dots.
  const [place = '', ofPlace = ''] = id.split('.', 2);
  return { place, stream: id.slice(place.length + ofPlace.length + 2), revision };
};

/** Whether it has the form of an id of the audit. */
const isAuditId = (id: string): boolean => /^[0-9a-v]+$/.test(id);

const auditedEvents = async (
  reader: Reader,
  documents: readonly ListedDocument<AuditDocument>[],
): Promise<readonly AuditedEvent[]> => {
  const wanted = documents.map(auditedPlace);
  const events = await eventsAt(reader, wanted);
  return wanted.flatMap(({ place, stream, revision }) => {
    const event = events.get(keyOf(stream, revision));
    return event === undefined ? [] : [{ id: place, event }];
  });
};

/**
 * The events of these ids, in their order, without those that there are not; as fresh as every list.
 * @throws as `listAudit`
 */
export const readAudit = async (reader: Reader, ids: readonly string[]): Promise<readonly AuditedEvent[]> => {
  const found = await Promise.all(
    // In version 2 a dot and more comes after it; a slash is the character after the dot.
    ids
      .filter(isAuditId)
      .map((id) => reader.list(auditProjection, { range: { from: id, before: `${id}/` }, order: 'ascending', limit: 1 })),
  );
  return auditedEvents(reader, found.flat());
};

/** How many events there are on all pages. */
export const countAudit = (reader: Reader, filter: AuditFilter): Promise<number> =>
  reader.count(auditProjection, selectionOf(filter));

interface EventPlace {
  readonly stream: string;
  readonly revision: bigint;
}

const keyOf = (stream: string, revision: bigint): string => `${String(revision)} ${stream}`;

/** Events between two wanted ones of a stream that are read with them, to save a call. */
const maxGap = 8n;

/** Whose events may have documents of a megabyte. */
const hasLargeEvents = (stream: string): boolean => stream.startsWith(streamPrefix(contentStream));
/** Large events that are in memory at once. */
const maxLarge = 10n;

/** The events at these places, each stream read as few times as possible. What is too long to be shown is let go at once. */
const eventsAt = async (reader: Reader, places: readonly EventPlace[]): Promise<ReadonlyMap<string, AuditedEvent['event']>> => {
  const found = new Map<string, AuditedEvent['event']>();
  const wanted = new Set(places.map(({ stream, revision }) => keyOf(stream, revision)));
  const read = async ({ stream, from, max }: Run): Promise<void> => {
    for (const event of await reader.slice(stream, from, max)) {
      const key = keyOf(event.stream, event.revision);
      const { type, metadata } = event;
      if (wanted.has(key)) found.set(key, { type, metadata, ...(await readableData(event, reader.personal)) });
    }
  };
  const runs = runsOf(places);
  await Promise.all(runs.filter(({ stream }) => !hasLargeEvents(stream)).map(read));
  for (const run of runs.filter(({ stream }) => hasLargeEvents(stream))) await read(run);
  return found;
};

interface Run {
  readonly stream: string;
  readonly from: bigint;
  readonly max: number;
}

const runsOf = (places: readonly EventPlace[]): readonly Run[] => {
  const byStream = new Map<string, bigint[]>();
  for (const { stream, revision } of places) byStream.set(stream, [...(byStream.get(stream) ?? []), revision]);
  return [...byStream].flatMap(([stream, revisions]) => {
    const runs: { from: bigint; to: bigint }[] = [];
    const [gap, length] = hasLargeEvents(stream) ? [1n, maxLarge] : [maxGap, undefined];
    for (const revision of revisions.sort((one, other) => Number(one - other))) {
      const last = runs.at(-1);
      const isNear = last !== undefined && revision - last.to <= gap;
      if (isNear && (length === undefined || revision - last.from < length)) last.to = revision;
      else runs.push({ from: revision, to: revision });
    }
    return runs.map(({ from, to }) => ({ stream, from, max: Number(to - from) + 1 }));
  });
};
