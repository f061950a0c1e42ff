import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';
import { isoTime, type Clock } from '../../platform/clock.js';
import { lazily } from '../../platform/lazily.js';
import { erased, type PersonalData } from '../../platform/personal.js';
import { embedded } from '../embeddedFiles.js';
import { ProviderFault } from '../fault.js';
import { isDescending, placeOf, undated } from './invoiceOrder.js';
import type { Attachment, AttachmentRefusal, Invoice, InvoiceFilter, Ledger, Payments, Subscription } from './port.js';

const schemaVersion = 3;

/** People appear as client ids, and in descriptions, which are encrypted (docs/adr/0010-personal-data.md). */
const schema = `
  CREATE TABLE subscription (
    number INTEGER PRIMARY KEY AUTOINCREMENT, website TEXT NOT NULL, client TEXT NOT NULL, price TEXT, created TEXT NOT NULL,
    ended TEXT
  ) STRICT;
  CREATE UNIQUE INDEX live ON subscription (website, client) WHERE ended IS NULL;
  CREATE TABLE invoice (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, website TEXT NOT NULL, client TEXT NOT NULL,
    total INTEGER NOT NULL, currency TEXT NOT NULL, description TEXT NOT NULL, created TEXT NOT NULL, due TEXT, paid TEXT
  ) STRICT;
  CREATE INDEX of_website ON invoice (website, client);
`;

/** The changes to `schema` since, each by the version that it leads to. */
const migrations: Readonly<Record<number, (database: Database) => void>> = {
  2: (database) => {
    database.exec('ALTER TABLE invoice ADD COLUMN voided TEXT');
  },
  3: (database) => {
    database.exec('ALTER TABLE invoice ADD COLUMN key TEXT');
    const rows = database.prepare('SELECT number FROM invoice').all() as { readonly number: number }[];
    const give = database.prepare('UPDATE invoice SET key = ? WHERE number = ?');
    for (const { number } of rows) give.run(newKey(), number);
  },
};

/**
 * Counts by client or status read these alone. They are no migration, because builds that do not
 * know them can still write the file.
 */
const indexes = `
  CREATE INDEX IF NOT EXISTS of_client ON invoice (client, paid, voided);
  CREATE INDEX IF NOT EXISTS by_status ON invoice (paid, voided);
`;

/** Whoever has it can open the invoice. */
const newKey = (): string => randomBytes(16).toString('base64url');

interface SubscriptionRow {
  readonly number: number;
  readonly website: string;
  readonly client: string;
  readonly price: string | null;
  readonly created: string;
  readonly ended: string | null;
}

interface InvoiceRow {
  readonly number: number;
  readonly id: string;
  readonly website: string;
  readonly client: string;
  readonly total: number;
  readonly currency: string;
  readonly description: string;
  readonly created: string;
  readonly due: string | null;
  readonly paid: string | null;
  readonly voided: string | null;
  readonly key: string;
}

/** How long to wait for another process that is writing. */
const BUSY_TIMEOUT_MS = 1_000;

/**
 * A payment provider that takes no money: it stores subscriptions, and invoices that admins write
 * and mark as paid, in one file that several processes may share. A customer's id is the client's,
 * and the billing portal is our own page. Every write is durable when it resolves. The
 * file is opened or created on first use.
 * @param baseUrl of the pages of invoices, without a trailing slash
 * @param personal decrypts descriptions as they are shown
 * @param noteUse called before the first entry of this process, once the file is there; nothing is written before it
 *   resolves
 */
export const createEmbeddedLedger = ({
  file,
  clock,
  baseUrl,
  personal,
  noteUse,
}: {
  file: string;
  clock: Clock;
  baseUrl: () => string;
  personal: Pick<PersonalData, 'display'>;
  noteUse?: () => Promise<void>;
}): Payments & Ledger & { close(): void } => {
  let opened: Database | null = null;
  const statements = new Map<string, StatementSyncInstance>();
  const prepared = (sql: string): StatementSyncInstance => {
    opened ??= open(file);
    const statement = statements.get(sql) ?? opened.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };

  const now = (): string => isoTime(clock.now());

  const run = async <Result>(work: () => Result): Promise<Result> => {
    // Turns synchronous errors into rejections.
    await Promise.resolve();
    try {
      return work();
    } catch (error) {
      const message = 'The ledger (ledger.db) cannot be used';
      throw new ProviderFault({ provider: embedded, message, transient: true, cause: error });
    }
  };

  const useNoted = lazily(async () => {
    // Before the note, so that a crash in between keeps nobody out.
    await run(() => (opened ??= open(file)));
    await noteUse?.();
  });

  const activeSubscription = (websiteId: string, clientId: string): SubscriptionRow | undefined =>
    prepared('SELECT * FROM subscription WHERE website = ? AND client = ? AND ended IS NULL').get(websiteId, clientId) as
      SubscriptionRow | undefined;

  const requireInvoice = (id: string): InvoiceRow => {
    const row = prepared('SELECT * FROM invoice WHERE id = ?').get(id) as InvoiceRow | undefined;
    if (row === undefined) throw new Error('an invoice is missing after it was written');
    return row;
  };

  const show = async (row: InvoiceRow): Promise<Invoice> => ({
    ...toInvoice(row),
    // One of an older version is readable as it is.
    description: await personal.display(row.description),
    url: `${baseUrl()}/app/invoices/${row.id}?key=${row.key}`,
  });

  const readSubscription = (id: string): SubscriptionRow | undefined =>
    prepared('SELECT * FROM subscription WHERE number = ?').get(numberOf(id)) as SubscriptionRow | undefined;

  const check = ({ subscriptionId, websiteId, clientId }: Attachment): AttachmentRefusal | { readonly customerId: string } => {
    const row = readSubscription(subscriptionId);
    if (row === undefined) return 'unknown';
    if (row.ended !== null) return 'ended';
    if (row.website !== websiteId) return 'otherWebsite';
    return clientId !== undefined && row.client !== clientId ? 'otherClient' : { customerId: row.client };
  };

  const settle = async (id: string, how: 'paid' | 'voided'): Promise<Invoice> => {
    const settled = await run(() => {
      prepared(`UPDATE invoice SET ${how} = ? WHERE id = ? AND paid IS NULL AND voided IS NULL`).run(now(), id);
      return requireInvoice(id);
    });
    return show(settled);
  };

  return {
    provider: embedded,
    hasPrice: () => Promise.resolve(true),
    // Invoices are written by hand.
    readPrice: (id) => Promise.resolve(id === undefined ? {} : { id }),
    findCustomer: ({ clientId }) => Promise.resolve({ id: clientId }),
    createCustomer: ({ clientId }) => Promise.resolve({ id: clientId }),
    findSubscription: (customerId, websiteId, except = []) =>
      run(() => {
        const row = activeSubscription(websiteId, customerId);
        const found = row === undefined ? null : toSubscription(row);
        return found === null || except.includes(found.id) ? null : found;
      }),
    createSubscription: async ({ clientId, websiteId, priceId }, assertHeld) => {
      await useNoted();
      assertHeld();
      return run(() => {
        prepared('INSERT INTO subscription (website, client, price, created) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING').run(
          websiteId,
          clientId,
          priceId ?? null,
          now(),
        );
        const row = activeSubscription(websiteId, clientId);
        if (row === undefined) throw new Error('a subscription is missing after it was created');
        return toSubscription(row);
      });
    },
    checkAttachment: (request) => run(() => check(request)),
    // Every subscription of this ledger was made for a client and a website, and is marked by that.
    attachSubscription: (request) =>
      run(() => {
        const checked = check(request);
        return typeof checked === 'string' ? checked : 'attached';
      }),
    detachSubscription: () => Promise.resolve(),
    markCustomer: () => Promise.resolve(),
    endSubscription: (subscriptionId) =>
      run(() => {
        prepared('UPDATE subscription SET ended = ? WHERE number = ? AND ended IS NULL').run(now(), numberOf(subscriptionId));
      }),
    readSubscriptions: (recorded) =>
      run(() =>
        recorded.flatMap(({ id, websiteId, clientId }) => {
          const row = readSubscription(id);
          // A ledger that was restored from a backup gives numbers again that the log has given others.
          return row?.website === websiteId && row.client === clientId ? [toSubscription(row)] : [];
        }),
      ),
    listInvoices: async ({ websiteId, clientId, status, sort, after, limit }) => {
      const time = sort.endsWith('createdAt') ? 'created' : `coalesce(due, '${undated(sort)}')`;
      const [order, beyond] = isDescending(sort) ? ['DESC', '<'] : ['ASC', '>'];
      const { text, values } = whereOf({
        ...conditionsOf({ websiteId, clientId, status }),
        [`(${time}, id) ${beyond} (?, ?)`]: after && [isoTime(after.time), after.id],
      });
      const select = `SELECT * FROM invoice WHERE ${text} ORDER BY ${time} ${order}, id ${order} LIMIT ?`;
      const rows = await run(() => prepared(select).all(...values, limit + 1) as unknown as readonly InvoiceRow[]);
      const items = await Promise.all(rows.slice(0, limit).map(show));
      const last = items.at(-1);
      return { items, ...(rows.length > limit && last !== undefined && { next: placeOf(sort, last) }) };
    },
    readInvoices: async (ids, { websiteId }) => {
      const rows = await run(() =>
        ids.map((id) => {
          const { text, values } = whereOf({ 'id = ?': id, ...conditionsOf({ websiteId }) });
          return prepared(`SELECT * FROM invoice WHERE ${text}`).get(...values) as InvoiceRow | undefined;
        }),
      );
      return Promise.all(rows.filter((row) => row !== undefined).map(show));
    },
    voidInvoice: ({ id }) => settle(id, 'voided'),
    portalLink: (_, returnUrl) => Promise.resolve(returnUrl),

    addInvoice: async ({ websiteId, clientId }, { id, total, currency, description, dueAt }) => {
      await useNoted();
      const added = await run(() => {
        // An insertion that ends in a conflict would use up a number.
        prepared(
          `INSERT INTO invoice (id, website, client, total, currency, description, created, due, key)
           SELECT ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM invoice WHERE id = ?)`,
        ).run(id, websiteId, clientId, total, currency, description, now(), dueAt ?? null, newKey(), id);
        return requireInvoice(id);
      });
      return show(added);
    },
    countInvoices: (filter) =>
      run(() => {
        const { text, values } = whereOf(conditionsOf(filter));
        const { count } = prepared(`SELECT count(*) AS count FROM invoice WHERE ${text}`).get(...values) as { count: number };
        return count;
      }),
    openInvoice: async (invoiceId, key) => {
      const select = 'SELECT * FROM invoice WHERE id = ? AND key = ?';
      const row = await run(() => prepared(select).get(invoiceId, key) as InvoiceRow | undefined);
      return row === undefined ? null : show(row);
    },
    payInvoice: (invoiceId) => settle(invoiceId, 'paid'),
    forget: async (_, __, clientId) => {
      // With another payment provider there is no file, and none is made.
      if (opened === null && !existsSync(file)) return;
      await run(() => {
        prepared('UPDATE invoice SET description = ? WHERE client = ?').run(erased, clientId);
        // The write-ahead log still holds the pages from before.
        const { busy } = prepared('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
        if (busy !== 0) throw new Error('other processes kept the file busy');
      });
    },
    close: () => {
      opened?.close();
      opened = null;
      statements.clear();
    },
  };
};

type Database = InstanceType<typeof DatabaseSync>;

const open = (file: string): Database => {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    // FULL: a confirmed invoice survives a power cut.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA secure_delete = ON');
    database.exec('BEGIN IMMEDIATE');
    const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
    if (version > schemaVersion) throw new Error('the ledger was written by a newer version of the service');
    if (version === 0) database.exec(schema);
    for (let next = Math.max(version, 1) + 1; next <= schemaVersion; next += 1) migrations[next]?.(database);
    database.exec(indexes);
    database.exec(`PRAGMA user_version = ${String(schemaVersion)}`);
    database.exec('COMMIT');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
};

/** Whether anything was ever written into a ledger, or that cannot be said. */
export const hasEntries = (file: string): boolean => {
  try {
    const database = open(file);
    try {
      return database.prepare('SELECT 1 FROM sqlite_sequence').get() !== undefined;
    } finally {
      database.close();
    }
  } catch {
    return true;
  }
};

const toSubscription = ({ number, price, created, ended }: SubscriptionRow): Subscription => ({
  id: `subscription-${String(number)}`,
  status: ended === null ? 'active' : 'canceled',
  ...(price !== null && { priceId: price }),
  createdAt: created,
  ...(ended !== null && { canceledAt: ended }),
});

/** 0, which no subscription has, when the id is not one of this ledger. */
const numberOf = (subscriptionId: string): number => Number(/^subscription-(\d{1,15})$/.exec(subscriptionId)?.[1] ?? 0);

const conditionOf: Readonly<Record<Invoice['status'], string>> = {
  open: 'paid IS NULL AND voided IS NULL',
  paid: 'paid IS NOT NULL',
  void: 'paid IS NULL AND voided IS NOT NULL',
  uncollectible: 'FALSE',
};

type Conditions = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A text with what stands for its question marks; `undefined`: it does not apply. */
const conditionsOf = ({ websiteId, clientId, status }: InvoiceFilter): Conditions => ({
  'website = ?': websiteId,
  'client = ?': clientId,
  ...(status !== undefined && { [conditionOf[status]]: [] }),
});

const whereOf = (conditions: Conditions): { readonly text: string; readonly values: readonly string[] } => {
  const given = Object.entries(conditions).filter(([, values]) => values !== undefined);
  return { text: ['TRUE', ...given.map(([text]) => text)].join(' AND '), values: given.flatMap(([, values]) => values ?? []) };
};

const toInvoice = (row: InvoiceRow): Invoice => {
  const { number, id, website, client, total, currency, description, created, due, paid, voided } = row;
  return {
    id,
    websiteId: website,
    clientId: client,
    number: String(number).padStart(6, '0'),
    status: paid !== null ? 'paid' : voided !== null ? 'void' : 'open',
    total,
    amountPaid: paid === null ? 0 : total,
    currency,
    description,
    createdAt: created,
    ...(due !== null && { dueAt: due }),
    ...(paid !== null && { paidAt: paid }),
    ...(voided !== null && { voidedAt: voided }),
  };
};
