import { dirname, join } from 'node:path';
import type { Clock } from '../../../platform/clock.js';
import { nextTurn } from '../../../platform/eventLoop.js';
import { isId } from '../documents.js';
import {
  ReadModelDropped,
  ReadModelStoreUnavailable,
  type ReadModel,
  type ReadModelStore,
  type StoredDocument,
} from '../readModelStore.js';
import { createCheckpointNotifier } from './checkpointNotifier.js';
import { openDatabase } from './database.js';
import { createDocumentWriter } from './documentWriter.js';
import { startCounting, startFinding, startListingIds, toDocument, type DocumentRow, type Steps } from './find.js';
import { createRecords, moveRecords } from './records.js';
import { openTally } from './tally.js';

/** Rows that a sweep removes before other work gets its turn. */
const chunkSize = 1_000;

/**
 * Read models in one SQLite file, which any number of processes of one machine may share. Beside
 * `file` stand SQLite's own `-wal` and `-shm`, and `-signal`, through which processes wake each
 * other; and `records.db`, with the records that are not folded from the log
 * (docs/adr/0037-records-outlive-read-models.md).
 *
 * @param options `alone`: whether no other process may use the files, until the store is closed
 * @throws ReadModelStoreUnavailable when the file cannot be opened; ReadModelStoreInUse
 */
export const createEmbeddedReadModelStore = async ({
  file,
  clock,
  alone,
}: {
  file: string;
  clock: Clock;
  alone?: boolean;
}): Promise<ReadModelStore> => {
  const sharing = alone === undefined ? {} : { alone };
  const database = await openDatabase(file, clock, sharing);
  const { statement } = database;
  const tally = await openTally(database);
  const writeDocuments = createDocumentWriter(database, tally);
  const recordsDatabase = await openDatabase(join(dirname(file), 'records.db'), clock, sharing).catch((fault: unknown) => {
    database.close();
    throw fault;
  });
  await moveRecords(database, recordsDatabase);
  const notifier = createCheckpointNotifier(`${file}-signal`, clock);
  const records = createRecords(recordsDatabase, clock);
  const durableRecords = createRecords(recordsDatabase, clock, (work) => recordsDatabase.writeDurably(work));
  const modelRecords = createRecords(database, clock);
  // Safe to cache: a version's key never changes and is never reused, so the key of a dropped
  // version finds nothing.
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

  /**
   * Takes one step after the other, each in a snapshot of its own.
   * @throws ReadModelDropped when the version is gone; the signal's reason
   */
  const inSteps = async <Result>(
    model: ReadModel,
    start: (key: bigint) => Steps<Result>,
    signal?: AbortSignal,
  ): Promise<Result> => {
    const step = start(await database.read(() => keyOf(model)));
    for (;;) {
      signal?.throwIfAborted();
      const result = await database.snapshot(() => {
        const found = step();
        checkpointOf(model);
        return found;
      });
      if (result !== null) return result;
      await nextTurn();
    }
  };

  /**
   * Removes the first rows of a version, as one part of the table, which takes a third of looking each of
   * them up. Returns whether there were any.
   * @param order the columns that the table's primary key has beside the version
   */
  const removeRows = (table: 'document' | 'entry', order: string, key: bigint): boolean => {
    const next = statement(`SELECT ${order} FROM ${table} WHERE model = ? ORDER BY ${order} LIMIT 1 OFFSET ?`).get(
      key,
      chunkSize,
    ) as Readonly<Record<string, string>> | undefined;
    const bound = Object.values(next ?? {});
    const before = next === undefined ? '' : `AND (${order}) < (${bound.map(() => '?').join(', ')})`;
    return statement(`DELETE FROM ${table} WHERE model = ? ${before}`).run(key, ...bound).changes > 0n;
  };

  /**
   * Removes the rows of dropped versions in chunks. The next sweep, in any process, continues an
   * unfinished one.
   */
  const sweep = async (): Promise<void> => {
    for (;;) {
      const finished = await database.write(() => {
        const row = statement('SELECT key FROM dropped LIMIT 1').get() as { key: bigint } | undefined;
        if (row === undefined) return true;
        if (!removeRows('entry', 'field, value, id', row.key) && !removeRows('document', 'id', row.key))
          statement('DELETE FROM dropped WHERE key = ?').run(row.key);
        return false;
      });
      if (finished) return;
      await nextTurn();
    }
  };

  return {
    records,
    durableRecords,
    modelRecords,

    prepare: async (model) => {
      await database.write(() => {
        const add = statement('INSERT INTO model (name, version) VALUES (?, ?) ON CONFLICT DO NOTHING');
        const { changes } = add.run(model.name, model.version);
        keys.delete(nameOf(model));
        if (changes > 0n) tally.begin(model, keyOf(model));
      });
      await sweep();
    },

    get: (model, id) => database.read(() => documentOf(model, id)),

    getMany: (model, ids) =>
      database.read(() => {
        const rows = statement(
          `SELECT document.id, revision, position, body FROM json_each(?2) AS wanted
           CROSS JOIN document ON document.model = ?1 AND document.id = wanted.value WHERE body IS NOT NULL`,
        ).all(keyOf(model), JSON.stringify(ids.filter(isId))) as DocumentRow[];
        // A version that was dropped leaves `model` before its documents are removed.
        checkpointOf(model);
        return new Map(rows.map((row) => [row.id, toDocument(row)]));
      }),

    find: (model, query, signal) => inSteps(model, (key) => startFinding(database, key, model, query), signal),

    findIds: (model, query, signal) => inSteps(model, (key) => startListingIds(database, key, model, query), signal),

    count: async (model, selection, signal) => {
      signal?.throwIfAborted();
      const kept = await database.snapshot(() => {
        const found = tally.count(model, keyOf(model), selection);
        checkpointOf(model);
        return found;
      });
      return kept ?? inSteps(model, (key) => startCounting(database, key, model, selection), signal);
    },

    apply: async (model, writes, checkpoint) => {
      await database.write(() => {
        const key = keyOf(model);
        writeDocuments(model, key, writes);
        tally.advance(model, checkpoint);
        const { changes } = statement('UPDATE model SET checkpoint = max(checkpoint, ?) WHERE key = ?').run(checkpoint, key);
        if (changes === 0n) throw dropped(model);
      });
      notifier.notify();
    },

    advance: async (checkpoints) => {
      await database.write(() => {
        for (const { model, position } of checkpoints) {
          tally.advance(model, position);
          statement('UPDATE model SET checkpoint = max(checkpoint, ?) WHERE name = ? AND version = ?').run(
            position,
            model.name,
            model.version,
          );
        }
      });
      notifier.notify();
    },

    checkpoint: (model) => database.read(() => checkpointOf(model)),

    reached: async (model, position, signal) => {
      const isReached = (): boolean => database.attemptOnce(() => checkpointOf(model) >= position);
      return (await database.read(() => isReached())) || notifier.wait(isReached, signal);
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
        tally.keepOnly(model.name, key);
        statement('INSERT INTO dropped (key) SELECT key FROM model WHERE name = ? AND key <> ?').run(model.name, key);
        statement('DELETE FROM model WHERE name = ? AND key <> ?').run(model.name, key);
      });
      notifier.notify();
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
      notifier.close(new ReadModelStoreUnavailable('the read-model store is closed'));
      database.close();
      recordsDatabase.close();
      return Promise.resolve();
    },
  };
};
