import { Type, type Static } from 'typebox';
import type { ActorNames } from '../../../events/actorNames.js';
import type { JsonValue } from '../../../events/envelope.js';
import type { AuditedEvent } from '../../../projections/audit/audit.queries.js';
import { Actor } from '../../actors.js';
import { cloneUrlOf } from '../../cloneUrl.js';
import { csvLine } from './csv.js';

/** One change, as the event log has it. */
export const AuditEntry = Type.Object(
  {
    id: Type.String({ description: 'Opaque; sorts as the audit does.', examples: ['01pgk5sg0a000000000003f'] }),
    at: Type.String({ format: 'date-time' }),
    type: Type.String({
      description: 'The event, as docs/events.md describes it.',
      examples: ['DeliveryCheckpointStatusSet'],
    }),
    websiteId: Type.Optional(Type.String({ description: 'The website that it is about.' })),
    actor: Actor,
    requestId: Type.String({
      description: 'The `X-Request-Id` of the request that led to it, also of what workers did for it.',
      examples: ['5f1c0c7e-1'],
    }),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What the event records. Personal data of somebody who was erased is `[erased]`; secrets are in no event.',
      examples: [{ checkpointId: 'kickoff', status: 'done', previousStatus: 'pending' }],
    }),
    omitted: Type.Optional(
      Type.Array(Type.String(), { description: 'Fields of `data` that are too long to be listed.', examples: [['body']] }),
    ),
  },
  { $id: 'AuditEntry', description: 'One change: what happened, when, and who did it by which way.' },
);
export type AuditEntry = Static<typeof AuditEntry>;

/** What an event says of a repository, in whichever field, with the address that it is cloned from. */
const toShown = (value: JsonValue, baseUrl: () => string): JsonValue => {
  if (typeof value !== 'object' || value === null || !('cloneUrl' in value)) return value;
  const { provider, cloneUrl, name } = value as Readonly<Record<'provider' | 'cloneUrl' | 'name', string>>;
  // As of then: an embedded repository has the slug's name.
  return { ...value, cloneUrl: cloneUrlOf({ provider, cloneUrl }, name, baseUrl) };
};

export const toAuditEntry = async (
  { id, event }: AuditedEvent,
  {
    toActor,
    baseUrl,
  }: {
    readonly toActor: ActorNames['toActor'];
    readonly baseUrl: () => string;
  },
): Promise<AuditEntry> => {
  const { type, metadata, data, omitted } = event;
  return {
    id,
    at: metadata.at,
    type,
    ...(typeof data.websiteId === 'string' && { websiteId: data.websiteId }),
    actor: await toActor(metadata.actor),
    requestId: metadata.requestId,
    data: Object.fromEntries(Object.entries(data).map(([field, value]) => [field, toShown(value, baseUrl)])),
    ...(omitted.length > 0 && { omitted: [...omitted] }),
  };
};

const columns: readonly (readonly [string, (entry: AuditEntry) => string | undefined])[] = [
  ['id', ({ id }) => id],
  ['at', ({ at }) => at],
  ['type', ({ type }) => type],
  ['websiteId', ({ websiteId }) => websiteId],
  ['subject', ({ actor }) => actor.subject],
  ['name', ({ actor }) => actor.name],
  ['role', ({ actor }) => actor.role],
  ['via', ({ actor }) => actor.via],
  ['tokenId', ({ actor }) => actor.tokenId],
  ['requestId', ({ requestId }) => requestId],
  ['data', ({ data }) => JSON.stringify(data)],
  ['omitted', ({ omitted }) => omitted?.join(',')],
];

export const auditCsvHeader = csvLine(columns.map(([name]) => name));

export const auditCsvLine = (entry: AuditEntry): string => csvLine(columns.map(([, valueOf]) => valueOf(entry) ?? ''));
