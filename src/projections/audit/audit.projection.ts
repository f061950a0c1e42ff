import { auditedTypes, personKeysIn } from '../../events/audited.js';
import type { JsonObject, Recorded } from '../../events/envelope.js';
import type { Projection } from '../projection.js';

/**
 * What an event of the audit is found by. The event itself stays in the log, where the document's id
 * leads to it (docs/adr/0022-audit.md).
 */
export type AuditDocument = {
  /** The actor's subject, as the event holds it. */
  readonly actor: string;
  readonly websiteId?: string;
  /** The people that it is about or by: ids of clients, and of the keys of personal data. */
  readonly people?: readonly string[];
};

const audited: ReadonlySet<string> = new Set(auditedTypes);

const timeLength = 10;
const positionLength = 13;

const sortable = (value: number | bigint, length: number): string => value.toString(32).padStart(length, '0');

/** What the ids of all documents of this time (epoch ms), and later ones, do not sort before. */
export const auditTime = (ms: number): string => sortable(Math.max(0, ms), timeLength);

/** Where an event stands in the audit: by its time, then by its place in the log. */
const placeOf = ({ position, metadata }: Recorded): string => {
  const ms = Date.parse(metadata.at);
  return auditTime(Number.isNaN(ms) ? 0 : ms) + sortable(position, positionLength);
};

/** The place, the stream and the revision of an event, from the id of its document. */
export const auditedEvent = (
  documentId: string,
): { readonly place: string; readonly stream: string; readonly revision: bigint } => {
  const [place = '', revision = ''] = documentId.split('.', 2);
  return { place, stream: documentId.slice(place.length + revision.length + 2), revision: BigInt(revision) };
};

const clientFields = ['clientId', 'previousClientId', 'claimedBy'] as const;

const clientsIn = (data: JsonObject): readonly string[] =>
  clientFields.map((field) => data[field]).filter((value) => typeof value === 'string');

/** One document for each event, of any stream. */
export const auditProjection: Projection<AuditDocument> = {
  name: 'audit',
  version: 2,
  handles: auditedTypes,
  ignores: [],
  documentId: (event) => `${placeOf(event)}.${String(event.revision)}.${event.stream}`,
  stream: (documentId) => auditedEvent(documentId).stream,
  evolve: (document, { type, data, metadata: { actor } }: Recorded) => {
    if (!audited.has(type)) return document;
    const fields = data as JsonObject;
    const people = [...new Set([...clientsIn(fields), ...personKeysIn(fields), ...personKeysIn(actor.subject)])];
    return {
      actor: actor.subject,
      ...(typeof fields.websiteId === 'string' && { websiteId: fields.websiteId }),
      ...(people.length > 0 && { people }),
    };
  },
  indexes: [{ field: 'actor' }, { field: 'websiteId' }, { field: 'people' }],
  counted: [],
  isAppendOnly: true,
};
