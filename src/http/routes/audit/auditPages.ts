import type { Engine } from '../../../engine.js';
import { createActorNames, type AddressBook } from '../../../events/actorNames.js';
import { nextTurn } from '../../../platform/eventLoop.js';
import { listAudit, readAudit, type AuditedEvent, type AuditFilter } from '../../../projections/audit/audit.queries.js';
import type { Reader } from '../../../projections/reader.js';
import { readPage, type ListQuery, type Page } from '../../paging.js';
import { toAuditEntry, type AuditEntry } from './audit.resource.js';

/** Entries that are read at once when all are asked for. */
const pageSize = 200;

export interface AuditPages {
  readonly one: (filter: AuditFilter, query: ListQuery) => Promise<Page<AuditEntry>>;
  /** The entries of these ids, in their order, without those that there are not. */
  readonly named: (ids: readonly string[]) => Promise<readonly AuditEntry[]>;
  /**
   * Every entry, a page at a time: up to `limit`, from `cursor` on. The first page is there when it
   * resolves, so that faults and refusals come before the answer has begun.
   */
  readonly all: (filter: AuditFilter, query: ListQuery) => Promise<AsyncIterable<readonly AuditEntry[]>>;
}

/** Reads the audit as answers show it. */
export const createAuditPages = ({
  engine,
  reader,
  baseUrl,
  identityProvider,
}: {
  readonly engine: Engine;
  readonly reader: Reader;
  /** Public base address, without a trailing slash. */
  readonly baseUrl: () => string;
  readonly identityProvider?: AddressBook | null;
}): AuditPages => {
  const toEntries = (items: readonly AuditedEvent[]): Promise<readonly AuditEntry[]> => {
    // Names as of now: with each page anew, because somebody may be erased during an export.
    const { toActor } = createActorNames(engine, { readerRole: 'admin', book: identityProvider });
    return Promise.all(items.map((item) => toAuditEntry(item, { toActor, baseUrl })));
  };

  const one: AuditPages['one'] = async (filter, query) => {
    const { items, next } = await readPage(
      query,
      ({ id }: AuditedEvent) => id,
      (page) => listAudit(reader, filter, page),
      ({ event }) => event.metadata.at,
    );
    return { items: await toEntries(items), next };
  };

  return {
    one,
    named: async (ids) => toEntries(await readAudit(reader, ids)),
    all: async (filter, { limit = Number.MAX_SAFE_INTEGER, cursor, sort }) => {
      const read = (left: number, next: string | undefined): Promise<Page<AuditEntry>> =>
        one(filter, {
          limit: Math.min(left, pageSize),
          ...(sort !== undefined && { sort }),
          ...(next !== undefined && { cursor: next }),
        });
      const first = await read(limit, cursor);
      return (async function* () {
        for (let page = first, left = limit; ;) {
          if (page.items.length > 0) yield page.items;
          left -= page.items.length;
          if (page.next === undefined || left <= 0) return;
          await nextTurn();
          page = await read(left, page.next);
        }
      })();
    },
  };
};
