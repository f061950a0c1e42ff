import { auditedTypes, personKeysIn } from '../../events/audited.js';
import type { JsonObject, Recorded } from '../../events/envelope.js';
import type { ListProjection } from '../projection.js';

/**
 * What an event of the audit is found by. The event itself stays in the log, where its stream and the
 * document's revision lead to it (docs/adr/0022-audit.md).
 */
export type AuditDocument = {
  /** The actor's subject, as the event holds it. */
  readonly actor: string;
  readonly websiteId?: string;
  /** The people that it is about or by: ids of clients, and of the keys of personal data. */
  readonly people?: readonly string[];
  /** Absent in documents of version 2, whose ids name it. */
  readonly stream?: string;
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

const clientFields = ['clientId', 'previousClientId', 'claimedBy'] as const;

const clientsIn = (data: JsonObject): readonly string[] =>
  clientFields.map((field) => data[field]).filter((value) => typeof value === 'string');

/** One document for each event, of any stream. */
export const auditProjection: ListProjection<AuditDocument> = {
  name: 'audit',
  // Raise it with each new type: an older build on the same stores would move this one past events that it does not
  // know. Documents have been the same since version 3, and answer meanwhile.
  version: 137,
  readsFrom: 2,
  handles: auditedTypes,
  ignores: [],
  // Short, because it stands in a row of each index.
  documentId: placeOf,
  evolve: (document, { type, data, stream, metadata: { actor } }: Recorded) => {
    if (!audited.has(type)) return document;
    const fields = data as JsonObject;
    const people = [...new Set([...clientsIn(fields), ...personKeysIn(fields), ...personKeysIn(actor.subject)])];
    return {
      actor: actor.subject,
      ...(typeof fields.websiteId === 'string' && { websiteId: fields.websiteId }),
      ...(people.length > 0 && { people }),
      stream,
    };
  },
  indexes: [{ field: 'actor' }, { field: 'websiteId' }, { field: 'people' }],
  counted: [],
  isAppendOnly: true,
};
