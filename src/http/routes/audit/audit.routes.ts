import { Type } from 'typebox';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import type { IdentityProvider } from '../../../integrations/identity/port.js';
import { isTime } from '../../../platform/times.js';
import { countAudit, type AuditFilter } from '../../../projections/audit/audit.queries.js';
import { subjectsCalled } from '../../../projections/audit/subjects.queries.js';
import type { Reader } from '../../../projections/reader.js';
import { readNamed, totalOf, type ListQuery, type Page } from '../../paging.js';
import { route, type Route, type RouteTag } from '../../route.js';
import { auditCsvHeader, auditCsvLine, AuditEntry } from './audit.resource.js';
import { createAuditPages } from './auditPages.js';

const auditTag: RouteTag = { name: 'Audit', description: 'Who changed what, when, and by which way.' };

const csv = 'text/csv';
const ndjson = 'application/x-ndjson';

const dayMs = 86_400_000;

/** Epoch ms of a time, or of the first or last millisecond of a day (UTC). @throws Refused */
const timeOf = (field: 'from' | 'to', text: string): number => {
  if (isTime(text)) return Date.parse(text.toUpperCase());
  const firstOfDay = `${text}T00:00:00Z`;
  if (!isTime(firstOfDay)) throw new Refused(refusals.invalidQuery(field, 'must be a day as in 2030-01-31, or a time'));
  return Date.parse(firstOfDay) + (field === 'to' ? dayMs - 1 : 0);
};

interface AuditQuery extends ListQuery {
  readonly websiteId?: string;
  readonly actor?: string;
  readonly from?: string;
  readonly to?: string;
}

export interface AuditRouteParts {
  readonly engine: Engine;
  readonly reader: Reader;
  /** Public base address, without a trailing slash. */
  readonly baseUrl: () => string;
  readonly identityProvider: Pick<IdentityProvider, 'accountOf' | 'addressOf'> | null;
}

/** The audit (api.md, section 4). */
export const auditRoutes = ({ engine, reader, baseUrl, identityProvider }: AuditRouteParts): readonly Route[] => {
  const filterOf = async ({ websiteId, actor, from, to }: AuditQuery): Promise<AuditFilter> => {
    const filter = {
      ...(websiteId !== undefined && { websiteId }),
      ...(from !== undefined && { from: timeOf('from', from) }),
      ...(to !== undefined && { to: timeOf('to', to) }),
    };
    return actor === undefined ? filter : { ...filter, actors: await subjectsCalled(reader, actor, identityProvider) };
  };

  return [
    route({
      method: 'get',
      path: '/audit',
      operationId: 'listAudit',
      summary: 'List every change by anybody, newest first, read some by their ids, or export them',
      description:
        'Each change with who made it and by which way: people in the portal or with a token, workers, webhooks. Also listed: what workers achieved or failed to, and each answer that an admin looked at as somebody else (`?as=`). Not listed: which process holds a lease, and reservations that lead to a change that is listed.\n\n`Accept: text/csv` (RFC 4180, UTF-8 without a byte order mark, fields that a spreadsheet would run as a formula with an apostrophe before them) or `application/x-ndjson` exports all of it, or `limit` of them from `cursor` on. An export holds whatever was there when it began; when the connection is cut, what came is not the whole. Any other `Accept` gets JSON.',
      tag: auditTag,
      scope: 'installation',
      access: 'admin',
      paging: { sort: ['at'], count: true, ids: true },
      query: Type.Object({
        // Without the default of other lists, which would end an export.
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 200, description: 'How many at most. Default: 50 in a list, all in an export.' }),
        ),
        websiteId: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'About this website.' })),
        actor: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 254,
            description:
              'By this person or process: a subject of the identity provider, an address, or a name such as `provisioning`.',
          }),
        ),
        from: Type.Optional(
          Type.String({
            maxLength: 40,
            description: 'At this time or later; a day (UTC) from its beginning on.',
            examples: ['2030-01-01'],
          }),
        ),
        to: Type.Optional(
          Type.String({
            maxLength: 40,
            description: 'At this time or earlier; a day (UTC) to its end.',
            examples: ['2030-01-31T12:00:00.000Z'],
          }),
        ),
      }),
      answers: {
        200: {
          description: 'A page of changes, or all of them.',
          schema: Type.Array(AuditEntry),
          alternatives: {
            [csv]: auditCsvHeader,
            [ndjson]: '{"id":"01pgk5sg0a000000000003f","at":"2030-01-31T12:00:00.000Z","type":"WebsiteArchived"}\n',
          },
        },
      },
      answer: async ({ query, accepts, signal }) => {
        const lists = reader.until(signal);
        const pages = createAuditPages({ engine, reader: lists, baseUrl, identityProvider });
        const ids = await readNamed(query, (id) => Promise.resolve(id));
        const named = ids === null ? null : await pages.named(ids);
        const filter = await filterOf(query);
        const total = await totalOf(query, () => named?.length ?? countAudit(lists, filter));
        const type = accepts(['application/json', csv, ndjson]);
        const headers = { vary: 'authorization, accept' };
        if (type !== csv && type !== ndjson) {
          const { items, next }: Page<AuditEntry> = named === null ? await pages.one(filter, query) : { items: named };
          return { body: items, headers, next, total };
        }
        const all = named === null ? await pages.all(filter, query) : [named];
        const parts = type === csv ? csvOf(all) : ndjsonOf(all);
        return {
          parts,
          headers: {
            ...headers,
            'content-type': type === csv ? `${csv}; charset=utf-8; header=present` : ndjson,
            'content-disposition': `attachment; filename="audit.${type === csv ? 'csv' : 'ndjson'}"`,
            ...(total !== undefined && { 'total-count': String(total) }),
          },
        };
      },
    }),
  ];
};

type Pages = AsyncIterable<readonly AuditEntry[]> | Iterable<readonly AuditEntry[]>;

async function* csvOf(pages: Pages): AsyncGenerator<string, void> {
  yield auditCsvHeader;
  for await (const entries of pages) yield entries.map(auditCsvLine).join('');
}

async function* ndjsonOf(pages: Pages): AsyncGenerator<string, void> {
  for await (const entries of pages) yield entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}
