import { dirname, join } from 'node:path';
import type { Clock } from '../../../platform/clock.js';
import { nextTurn } from '../../../platform/eventLoop.js';
import { isId } from '../documents.js';
import { ReadModelStoreUnavailable, type ReadModel, type ReadModelStore, type StoredDocument } from '../readModelStore.js';
import { createCheckpointNotifier } from './checkpointNotifier.js';
import { createApply } from './applyDocuments.js';
import { openDatabase, type Database } from './database.js';
import { startCounting, startFinding, startListingIds, toDocument, type DocumentRow, type Steps } from './find.js';
import { createRemoval } from './droppedVersions.js';
import { createModelKeys } from './modelKeys.js';
import { createRecords, moveRecords } from './records.js';
import { openTally } from './tally.js';
import { createWritingThread } from './writingThread.js';

/**
 * Read models in one SQLite file, which any number of processes of one machine may share. Beside
 * `file` stand SQLite's own `-wal` and `-shm`, and `-signal`, through which processes wake each
 * other; and `records.db`, with the records that are not folded from the log
 * (docs/adr/0037-records-outlive-read-models.md).
 *
 * @param alone whether no other process may use the files, until the store is closed
 * @param writingProgram the compiled file of it, to write in bulk on another thread
 * @throws ReadModelStoreUnavailable when the file cannot be opened; ReadModelStoreInUse
 */
export const createEmbeddedReadModelStore = async ({
  file,
  clock,
  alone,
  writingProgram,
}: {
  file: string;
  clock: Clock;
  alone?: boolean;
  writingProgram?: string;
}): Promise<ReadModelStore> => {
  const sharing = alone === undefined ? {} : { alone };
  const opened = await openDatabase(file, clock, sharing);
  const thread = writingProgram === undefined ? null : createWritingThread({ program: writingProgram, file, clock });
  const database: Database = {
    ...opened,
    write: (work) => (thread === null ? opened.write(work) : thread.between(() => opened.write(work))),
  };
  const { statement } = database;
  const tally = await openTally(database);
  const modelKeys = createModelKeys(database);
  const { keyOf, checkpointOf, dropped } = modelKeys;
  const apply = createApply(database, tally, modelKeys);
  const recordsDatabase = await openDatabase(join(dirname(file), 'records.db'), clock, sharing).catch((fault: unknown) => {
    database.close();
    throw fault;
  });
  await moveRecords(database, recordsDatabase);
  const notifier = createCheckpointNotifier(`${file}-signal`, clock);
  const records = createRecords(recordsDatabase, clock);
  const durableRecords = createRecords(recordsDatabase, clock, (work) => recordsDatabase.writeDurably(work));
  const modelRecords = createRecords(database, clock);
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

  const removeSome = createRemoval(database);

  /**
   * Removes the rows of dropped versions in chunks. The next sweep, in any process, continues an
   * unfinished one.
   */
  const sweep = async (): Promise<void> => {
    const isClean = await database.read(() => statement('SELECT 1 FROM dropped LIMIT 1').get() === undefined);
    if (isClean) return;
    while (!(await (thread?.isRunning() === true ? thread : { removeSome }).removeSome())) await nextTurn();
  };

  return {
    records,
    durableRecords,
    modelRecords,

    prepare: async (model) => {
      await database.write(() => {
        const add = statement('INSERT INTO model (name, version) VALUES (?, ?) ON CONFLICT DO NOTHING');
        const { changes } = add.run(model.name, model.version);
        modelKeys.forget(model);
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

    apply: async (model, writes, checkpoint, { inBulk = false } = {}) => {
      await (inBulk && thread !== null ? thread : { apply }).apply(model, writes, checkpoint);
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
    },

    sweep,

    purgeTombstones: (model, before) =>
      database.write(() => {
        statement('DELETE FROM document WHERE model = ? AND body IS NULL AND position < ?').run(keyOf(model), before);
      }),

    ping: () =>
      database.read(() => {
        statement('SELECT count(*) FROM model').get();
      }),

    close: async () => {
      notifier.close(new ReadModelStoreUnavailable('the read-model store is closed'));
      database.close();
      recordsDatabase.close();
      await thread?.close();
    },
  };
};
