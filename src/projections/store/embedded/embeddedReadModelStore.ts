import type { JsonObject } from '../../../events/envelope.js';
import type { Clock } from '../../../platform/clock.js';
import { isId, matchesSearch, textsOf } from '../documents.js';
import {
  ReadModelDropped,
  ReadModelStoreUnavailable,
  type DocumentWrite,
  type ReadModel,
  type ReadModelStore,
  type StoredDocument,
} from '../readModelStore.js';
import { createArrivals } from './arrivals.js';
import { openDatabase } from './database.js';
import { conditionsOf, entryValue, findPage, toDocument, type Condition, type DocumentRow, type Page } from './find.js';
import { createRecords } from './records.js';

/** Documents that a search looks at, and rows that a sweep removes, before others get their turn. */
const stretch = 500;

/**
 * Read models in one SQLite file, which any number of processes of one machine may share. Beside `file` it keeps SQLite's own
 * `-wal` and `-shm`, and `-signal`, through which processes wake each other.
 *
 * @throws ReadModelStoreUnavailable when the file cannot be opened
 */
export const createEmbeddedReadModelStore = async ({ file, clock }: { file: string; clock: Clock }): Promise<ReadModelStore> => {
  const database = await openDatabase(file, clock);
  const { statement } = database;
  const arrivals = createArrivals(`${file}-signal`, clock);
  const records = createRecords(database, clock);
  // A version's key never changes and is never used again; a key whose version was dropped finds nothing.
  const keys = new Map<string, bigint>();

  const nameOf = ({ name, version }: ReadModel): string => JSON.stringify([name, version]);

  const dropped = (model: ReadModel): ReadModelDropped => {
    keys.delete(nameOf(model));
    return new ReadModelDropped(model);
  };

  const keyOf = (model: ReadModel): bigint => {
    const name = nameOf(model);
    const known = keys.get(name);
    if (known !== undefined) return known;
    const row = statement('SELECT key FROM model WHERE name = ? AND version = ?').get(model.name, model.version) as
      { key: bigint } | undefined;
    if (row === undefined) throw dropped(model);
    keys.set(name, row.key);
    return row.key;
  };

  const checkpointOf = (model: ReadModel): bigint => {
    const row = statement('SELECT checkpoint FROM model WHERE key = ?').get(keyOf(model)) as { checkpoint: bigint } | undefined;
    if (row === undefined) throw dropped(model);
    return row.checkpoint;
  };

  const documentOf = (model: ReadModel, id: string): StoredDocument | null => {
    if (!isId(id)) return null;
    const row = statement(
      `SELECT document.id, revision, position, body FROM model
       LEFT JOIN document ON document.model = model.key AND document.id = ? WHERE model.key = ?`,
    ).get(id, keyOf(model)) as DocumentRow | { readonly body: null } | undefined;
    if (row === undefined) throw dropped(model);
    return row.body === null ? null : toDocument(row);
  };

  /** A page as of one moment, in which the version is not dropped. */
  const pageOf = (model: ReadModel, conditions: readonly Condition[], page: Page): readonly DocumentRow[] => {
    const rows = findPage(database, keyOf(model), conditions, page);
    checkpointOf(model);
    return rows;
  };

  const writeDocument = (model: ReadModel, key: bigint, { id, revision, position, body }: DocumentWrite): void => {
    if (!isId(id)) throw new TypeError(`not an id: ${JSON.stringify(id)}`);
    const stored = statement('SELECT position, body FROM document WHERE model = ? AND id = ?').get(key, id) as
      { position: bigint; body: string | null } | undefined;
    if (stored !== undefined && stored.position >= position) return;
    statement(
      `INSERT INTO document (model, id, revision, position, body) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET revision = excluded.revision, position = excluded.position, body = excluded.body`,
    ).run(key, id, revision, position, body === null ? null : JSON.stringify(body));

    if (model.indexes.length === 0) return;
    const before = stored === undefined || stored.body === null ? null : (JSON.parse(stored.body) as JsonObject);
    for (const { field } of model.indexes) {
      const old = new Set(before === null ? [] : textsOf(before, field));
      const current = new Set(body === null ? [] : textsOf(body, field));
      for (const value of old) {
        if (current.has(value)) continue;
        statement('DELETE FROM entry WHERE model = ? AND field = ? AND value = ? AND id = ?').run(
          key,
          field,
          entryValue(value),
          id,
        );
      }
      for (const value of current) {
        if (old.has(value)) continue;
        statement('INSERT INTO entry (model, field, value, id) VALUES (?, ?, ?, ?)').run(key, field, entryValue(value), id);
      }
    }
  };

  /** Removes what dropped versions left, a stretch at a time. Unfinished work is taken up by the next sweep, in any process. */
  const sweep = async (): Promise<void> => {
    for (;;) {
      const finished = await database.write(() => {
        const row = statement('SELECT key FROM dropped LIMIT 1').get() as { key: bigint } | undefined;
        if (row === undefined) return true;
        const removed = ['document', 'entry'].map((table) => {
          const columns = table === 'document' ? 'model, id' : 'model, field, value, id';
          return statement(
            `DELETE FROM ${table} WHERE (${columns}) IN (SELECT ${columns} FROM ${table} WHERE model = ? LIMIT ?)`,
          ).run(row.key, stretch).changes;
        });
        if (removed.every((count) => count === 0n)) statement('DELETE FROM dropped WHERE key = ?').run(row.key);
        return false;
      });
      if (finished) return;
      await othersFirst();
    }
  };

  return {
    records,

    prepare: async (model) => {
      await database.write(() => {
        statement('INSERT INTO model (name, version) VALUES (?, ?) ON CONFLICT DO NOTHING').run(model.name, model.version);
        keys.delete(nameOf(model));
      });
      await sweep();
    },

    get: (model, id) => database.read(() => documentOf(model, id)),

    getMany: (model, ids) =>
      database.read(() => {
        const documents = ids.map((id) => documentOf(model, id)).filter((document) => document !== null);
        return new Map(documents.map((document) => [document.id, document]));
      }),

    find: async (model, query) => {
      const { search, order, limit } = query;
      const conditions = conditionsOf(model, query);
      if (search === undefined) return (await database.snapshot(() => pageOf(model, conditions, query))).map(toDocument);

      const found: StoredDocument[] = [];
      let { after } = query;
      for (;;) {
        const page = { order, limit: stretch, ...(after !== undefined && { after }) };
        const rows = await database.snapshot(() => pageOf(model, conditions, page));
        for (const row of rows) {
          const document = toDocument(row);
          if (found.length < limit && matchesSearch(document.body, search)) found.push(document);
        }
        if (found.length >= limit || rows.length < stretch) return found;
        after = rows.at(-1)?.id;
        await othersFirst();
      }
    },

    apply: async (model, writes, checkpoint) => {
      await database.write(() => {
        const key = keyOf(model);
        for (const write of writes) writeDocument(model, key, write);
        const { changes } = statement('UPDATE model SET checkpoint = max(checkpoint, ?) WHERE key = ?').run(checkpoint, key);
        if (changes === 0n) throw dropped(model);
      });
      arrivals.announce();
    },

    checkpoint: (model) => database.read(() => checkpointOf(model)),

    reached: async (model, position, signal) => {
      const arrived = (): boolean => database.peek(() => checkpointOf(model) >= position);
      return (await database.read(() => arrived())) || arrivals.wait(arrived, signal);
    },

    liveVersion: (name) =>
      database.read(() => {
        const row = statement('SELECT version FROM model WHERE name = ? AND live = 1').get(name) as
          { version: string } | undefined;
        return row?.version ?? null;
      }),

    publish: async (model) => {
      await database.write(() => {
        const key = keyOf(model);
        const { changes } = statement('UPDATE model SET live = 1 WHERE key = ?').run(key);
        if (changes === 0n) throw dropped(model);
        statement('INSERT INTO dropped (key) SELECT key FROM model WHERE name = ? AND key <> ?').run(model.name, key);
        statement('DELETE FROM model WHERE name = ? AND key <> ?').run(model.name, key);
      });
      arrivals.announce();
      await sweep();
    },

    purgeTombstones: (model, before) =>
      database.write(() => {
        statement('DELETE FROM document WHERE model = ? AND body IS NULL AND position < ?').run(keyOf(model), before);
      }),

    ping: () =>
      database.read(() => {
        statement('SELECT count(*) FROM model').get();
      }),

    close: () => {
      arrivals.close(new ReadModelStoreUnavailable('the read-model store is closed'));
      database.close();
      return Promise.resolve();
    },
  };
};

const othersFirst = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
