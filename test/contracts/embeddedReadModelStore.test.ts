import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import { DatabaseSync } from '@photostructure/sqlite';
import { systemClock } from '../../src/platform/clock.js';
import { openDatabase, type SqlValue, type Statement } from '../../src/projections/store/embedded/database.js';
import { createDocumentWriter } from '../../src/projections/store/embedded/documentWriter.js';
import { createEmbeddedReadModelStore } from '../../src/projections/store/embedded/embeddedReadModelStore.js';
import { startFinding, startListingIds, type Steps } from '../../src/projections/store/embedded/find.js';
import { ReadModelStoreUnavailable, type ReadModel, type ReadModelStore } from '../../src/projections/store/readModelStore.js';
import { writingProgram } from '../../src/programs.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';
import { readModelStoreContract } from './readModelStore.contract.js';

readModelStoreContract('embedded', () => {
  const clock = createTestClock();
  const file = join(temporaryFolder(), 'readModels.sqlite');
  const opened: ReadModelStore[] = [];
  return Promise.resolve({
    open: async () => {
      const store = await createEmbeddedReadModelStore({ file, clock, writingProgram });
      opened.push(store);
      return store;
    },
    advance: (ms) => clock.advance(ms),
    now: () => clock.now(),
    close: async () => {
      await Promise.all(opened.map((store) => store.close()));
    },
  });
});

const beside = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

describe('embedded read-model store', () => {
  const sites: ReadModel = { name: 'site', version: '1', indexes: [{ field: 'writer' }] };
  const opened: ReadModelStore[] = [];
  const open = async (file: string, clock = systemClock): Promise<ReadModelStore> => {
    const store = await createEmbeddedReadModelStore({ file, clock, writingProgram });
    opened.push(store);
    return store;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });

  /**
   * Another process that applies positions 1 to `last`, each with a document that all writers share
   * and one of its own.
   */
  const startWriter = (file: string, writer: string, last: number, ...options: readonly 'in bulk'[]) =>
    spawn(
      process.execPath,
      [
        ...['--import', beside('../support/eventStoreTypescript.mjs'), beside('./readModelWriter.ts')],
        ...[file, writer, String(last), ...options],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );

  test('processes that write one file at once lose nothing, and wake a wait in another process', async () => {
    const file = join(temporaryFolder(), 'readModels.sqlite');
    const writers = [startWriter(file, 'x', 200), startWriter(file, 'y', 200, 'in bulk')];
    const store = await open(file);
    await store.prepare(sites);
    expect(await store.reached(sites, 200n, AbortSignal.timeout(15_000))).toBe(true);
    const codes = await Promise.all(writers.map(async (child) => (await once(child, 'exit'))[0] as unknown));
    expect(codes).toEqual([0, 0]);

    for (const writer of ['x', 'y']) {
      expect(
        await store.find(sites, { where: { writer }, search: { fields: ['own'], text: writer }, order: 'ascending', limit: 500 }),
      ).toHaveLength(200);
    }
    expect((await store.get(sites, 'shared'))?.position).toBe(200n);
  });

  test.each([
    ['', []],
    [' in bulk', ['in bulk']],
  ] as const)('a process that is killed loses no write%s that was acknowledged', async (_, options) => {
    const file = join(temporaryFolder(), 'readModels.sqlite');
    const child = startWriter(file, 'x', 1_000_000, ...options);
    let acknowledged = 0n;
    child.stdout.setEncoding('utf8').on('data', (lines: string) => {
      const last = lines.trimEnd().split('\n').at(-1);
      if (last !== undefined && /^\d+$/.test(last)) acknowledged = BigInt(last);
      if (acknowledged >= 100n) child.kill('SIGKILL');
    });
    await once(child, 'close');

    const store = await open(file);
    const checkpoint = await store.checkpoint(sites);
    expect(acknowledged).toBeGreaterThanOrEqual(100n);
    // The last line may end in the middle of a number: then `acknowledged` is too small, never too
    // large.
    expect(checkpoint).toBeGreaterThanOrEqual(acknowledged);
    expect((await store.get(sites, 'shared'))?.position).toBe(checkpoint);
    await store.apply(sites, [], checkpoint + 1n);
    expect(await store.checkpoint(sites)).toBe(checkpoint + 1n);
  });

  test('a file that cannot be opened to write in bulk is unavailable, and written once it can be', async () => {
    const file = join(temporaryFolder(), 'readModels.sqlite');
    const store = await open(file);
    await store.prepare(sites);
    const write = () => store.apply(sites, [{ id: 'a', revision: 1n, position: 1n, body: {} }], 1n, { inBulk: true });
    const other = new DatabaseSync(file);
    other.exec('PRAGMA user_version = 9');
    await expect(write()).rejects.toThrow(ReadModelStoreUnavailable);
    other.exec('PRAGMA user_version = 1');
    other.close();
    await write();
    expect(await store.checkpoint(sites)).toBe(1n);
  });

  test('durable records that are written at once are synced together, and one that cannot be written harms no other', async () => {
    const file = join(temporaryFolder(), 'readModels.sqlite');
    const { durableRecords } = await open(file);
    const walBytes = (): number => statSync(join(dirname(file), 'records.db-wal')).size;
    const write = (index: number) => durableRecords.insert('answers', String(index), { index });
    const before = walBytes();
    for (let index = 0; index < 20; index += 1) await write(index);
    const apart = walBytes() - before;
    expect(await Promise.all(Array.from({ length: 20 }, (_, index) => write(20 + index)))).toEqual(Array(20).fill(true));
    expect(walBytes() - before - apart).toBeLessThan(apart / 4);

    const [one, broken, again, other] = await Promise.allSettled([
      write(40),
      durableRecords.put('answers', '41', { tooLarge: 1n } as never),
      write(40),
      write(42),
    ]);
    expect(broken).toMatchObject({ status: 'rejected', reason: { name: 'TypeError' } });
    expect([one, again, other]).toEqual([true, false, true].map((value) => ({ status: 'fulfilled', value })));
    expect(await durableRecords.get('answers', '42')).toEqual({ index: 42 });
  });

  test('a write waits while another connection holds the file, and gives up in the end', async () => {
    const clock = createTestClock();
    const file = join(temporaryFolder(), 'readModels.sqlite');
    const store = await open(file, clock);
    await store.prepare(sites);
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');

    const refused = expect(store.apply(sites, [], 1n)).rejects.toThrow(ReadModelStoreUnavailable);
    expect(await store.checkpoint(sites)).toBe(0n);
    while (clock.pending() > 0) await clock.advance(1_000);
    await refused;

    const waiting = store.apply(sites, [], 2n);
    while (clock.pending() === 0) await store.ping();
    other.exec('ROLLBACK');
    await clock.advance(1_000);
    await waiting;
    expect(await store.checkpoint(sites)).toBe(2n);
    other.close();
  });

  test('the safety check notices a checkpoint that moved without a notification', async () => {
    const clock = createTestClock();
    const file = join(temporaryFolder(), 'readModels.sqlite');
    const store = await open(file, clock);
    await store.prepare(sites);
    const waiting = store.reached(sites, 7n, new AbortController().signal);
    while (clock.pending() === 0) await store.ping();
    const other = new DatabaseSync(file);
    other.exec('UPDATE model SET checkpoint = 7');
    other.close();
    await clock.advance(500);
    expect(await waiting).toBe(true);
    expect(clock.pending()).toBe(0);
  });

  test.each([
    [
      'is not a database',
      (file: string) => {
        writeFileSync(file, 'no database '.repeat(100));
      },
    ],
    [
      'was written by a newer version',
      (file: string) => {
        const other = new DatabaseSync(file);
        other.exec('PRAGMA user_version = 99');
        other.close();
      },
    ],
  ])('a file that %s is refused', async (_, make) => {
    const file = join(temporaryFolder(), 'readModels.sqlite');
    make(file);
    await expect(open(file)).rejects.toThrow(ReadModelStoreUnavailable);
  });

  test('a file of which only the first page is whole is refused by its name', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'read-models.db');
    await (await open(file)).modelRecords.put('log', 'name', { log: 'own' });
    await Promise.all(opened.splice(0).map((store) => store.close()));
    const whole = new DatabaseSync(file);
    whole.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    whole.close();
    writeFileSync(file, readFileSync(file).fill(0xff, 4_096));

    const refused = open(file);
    await expect(refused).rejects.toThrow(ReadModelStoreUnavailable);
    await expect(refused).rejects.toThrow(`${file} cannot be used: database disk image is malformed`);
  });

  test('records outlive the read models, and those of earlier versions are moved to where they do', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'read-models.db');
    const close = async (): Promise<void> => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
    };
    const before = await open(file);
    await before.modelRecords.put('log', 'name', { log: 'own' });
    await close();
    // As earlier versions had them, and as one that was cut off after it had moved some left them.
    const old = new DatabaseSync(file);
    const insert = old.prepare('INSERT INTO record VALUES (?, ?, ?, ?)');
    for (let index = 0; index < 1_200; index += 1)
      insert.run('answers', JSON.stringify(`k${String(index)}`), `{"n":${String(index)}}`, null);
    insert.run('workerPositions', '"mail"', '{"position":"5"}', null);
    insert.run('answers', '"old"', '{}', 1);
    old.close();
    const moved = new DatabaseSync(join(folder, 'records.db'));
    moved.prepare('INSERT INTO record VALUES (?, ?, ?, ?)').run('workerPositions', '"mail"', '{"position":"9"}', null);
    moved.close();

    await open(file);
    await close();
    for (const name of readdirSync(folder)) if (name.startsWith('read-models.db')) rmSync(join(folder, name));
    const after = await open(file);
    expect(await after.records.get('answers', 'k0')).toStrictEqual({ n: 0 });
    expect(await after.records.get('answers', 'k1199')).toStrictEqual({ n: 1_199 });
    expect(await after.records.get('answers', 'old')).toBeNull();
    expect(await after.records.get('workerPositions', 'mail')).toStrictEqual({ position: '9' });
    expect(await after.records.get('log', 'name')).toBeNull();
    expect(await after.modelRecords.get('log', 'name')).toBeNull();
  });

  test('counts without looking at any document or index, and by the index what was made without counts', async () => {
    const file = join(temporaryFolder(), 'read-models.db');
    const counted: ReadModel = { ...sites, counted: ['writer'] };
    const store = await open(file);
    await store.prepare(counted);
    const writes = Array.from({ length: 300 }, (_, index) => ({
      id: `w${String(index)}`,
      revision: 0n,
      position: BigInt(index),
      body: { writer: index < 200 ? 'x' : 'y' },
    }));
    await store.apply(counted, writes, 300n);
    const inFile = (sql: string): void => {
      const database = new DatabaseSync(file);
      database.exec(sql);
      database.close();
    };
    inFile('CREATE TABLE aside AS SELECT * FROM entry; DELETE FROM entry');
    expect([await store.count(counted, { where: { writer: 'x' } }), await store.count(counted, {})]).toEqual([200, 300]);

    await store.advance([{ model: counted, position: 400n }]);
    expect(await store.count(counted, {})).toBe(300);
    // As a build without counts writes on.
    inFile(`INSERT INTO entry SELECT * FROM aside; UPDATE model SET checkpoint = 500;
      INSERT INTO document VALUES (1, 'w300', 0, 500, '{"writer":"y"}'); INSERT INTO entry VALUES (1, 'writer', '"y"', 'w300')`);
    expect([await store.count(counted, { where: { writer: 'y' } }), await store.count(counted, {})]).toEqual([101, 301]);
    await store.apply(counted, [{ id: 'w301', revision: 0n, position: 501n, body: { writer: 'y' } }], 501n);
    expect([await store.count(counted, { where: { writer: 'y' } }), await store.count(counted, {})]).toEqual([102, 302]);

    // As an earlier version made it.
    inFile('DROP TABLE counted; DROP TABLE tally');
    const later = await open(file);
    await later.prepare(counted);
    await later.apply(counted, [{ id: 'w0', revision: 1n, position: 301n, body: { writer: 'y' } }], 502n);
    expect([await later.count(counted, { where: { writer: 'x' } }), await later.count(counted, {})]).toEqual([199, 302]);
  });

  test('a page of many ids reads few documents, and the ids of one value are read once', async () => {
    const database = await openDatabase(join(temporaryFolder(), 'readModels.sqlite'), systemClock);
    const model: ReadModel = { ...sites, indexes: [{ field: 'writer' }, { field: 'words' }, { field: 'title', sorts: true }] };
    const idOf = (index: number): string => `w${String(index).padStart(4, '0')}`;
    const writes = Array.from({ length: 4_000 }, (_, index) => {
      const words = [index % 400 === 0 ? 'bread' : 'cake'];
      return {
        id: idOf(index),
        revision: 0n,
        position: 1n,
        body: { writer: 'x', words, title: `t${String((index * 7) % 997)}` },
      };
    });
    const read = { statements: 0, documents: 0, entries: 0 };
    const counting = {
      statement: (sql: string): Statement => {
        const prepared = database.statement(sql);
        read.statements += 1;
        const get = (...parameters: readonly SqlValue[]): unknown => {
          const row = prepared.get(...parameters);
          const ids = (row as { readonly ids?: string } | undefined)?.ids;
          if (ids !== undefined) read.entries += (JSON.parse(ids) as unknown[]).length;
          return row;
        };
        const all = (...parameters: readonly SqlValue[]): unknown[] => {
          const rows = prepared.all(...parameters);
          if (sql.includes('body FROM')) read.documents += rows.length;
          return rows;
        };
        return { run: (...parameters) => prepared.run(...parameters), get, all };
      },
    };
    const toEnd = <Result>(steps: Steps<Result>): Result => {
      Object.assign(read, { statements: 0, documents: 0, entries: 0 });
      for (;;) {
        const result = steps();
        if (result !== null) return result;
      }
    };
    const ids = writes.map(({ id }) => id).filter((_, index) => index % 2 === 0);
    const where = { writer: 'x' };
    const page = { ids, where, order: 'descending', limit: 10 } as const;
    try {
      await database.write(() => {
        createDocumentWriter(database, { move: () => undefined })(model, 1n, writes);
      });
      expect(toEnd(startFinding(counting, 1n, model, { ...page, sort: { field: 'title' } }))).toHaveLength(10);
      expect(read.documents).toBe(10);
      const beginning = { field: 'words', text: 'br' };
      const found = toEnd(startFinding(counting, 1n, model, { ...page, beginning }));
      expect(found.map(({ id }) => id)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((index) => idOf(index * 400)));
      expect(read.documents).toBe(10);
      const bread = { words: 'bread', writer: 'x' };
      expect(toEnd(startFinding(counting, 1n, model, { ...page, where: bread }))).toHaveLength(10);
      expect(read.entries).toBe(10);
      expect(toEnd(startListingIds(counting, 1n, model, { where, limit: 100 }))).toHaveLength(100);
      expect(read).toEqual({ statements: 1, documents: 0, entries: 100 });
    } finally {
      database.close();
    }
  });

  test('writes many documents in few statements', async () => {
    const database = await openDatabase(join(temporaryFolder(), 'readModels.sqlite'), systemClock);
    let runs = 0;
    const statement = (sql: string): Statement => {
      runs += 1;
      return database.statement(sql);
    };
    const writes = Array.from({ length: 1_000 }, (_, index) => ({
      id: `w${String(index)}`,
      revision: 0n,
      position: BigInt(index),
      body: { writer: `one of ${String(index % 10)}` },
    }));
    try {
      await database.write(() => {
        createDocumentWriter({ statement }, { move: () => undefined })(sites, 1n, writes);
      });
      expect(database.statement('SELECT (SELECT count(*) FROM document) + (SELECT count(*) FROM entry) AS rows').get()).toEqual({
        rows: 2_000n,
      });
      // One for 50 documents, one for 500 entries, and one that looks for what is stored.
      expect(runs).toBe(23);
    } finally {
      database.close();
    }
  });

  test.each([false, true])(
    'a sweep leaves no row of a dropped version, and every row of the others (thread: %s)',
    async (inBulk) => {
      const file = join(temporaryFolder(), 'readModels.sqlite');
      const store = await open(file);
      const writes = Array.from({ length: 2_500 }, (_, index) => ({
        id: `w${String(index)}`,
        revision: 0n,
        position: 1n,
        body: index % 2 === 0 ? null : { writer: `one of ${String(index % 7)}` },
      }));
      const next: ReadModel = { ...sites, version: '2' };
      for (const model of [sites, next, { ...sites, name: 'other' }]) {
        await store.prepare(model);
        await store.apply(model, writes, 1n, { inBulk });
      }
      await store.publish(next);
      await store.sweep();

      const database = new DatabaseSync(file);
      const rows = (table: string): unknown =>
        database
          .prepare(`SELECT name, version, count(*) AS rows FROM ${table} LEFT JOIN model ON key = model GROUP BY 1, 2`)
          .all();
      const left = (count: number) => [
        { name: 'other', version: '1', rows: count },
        { name: 'site', version: '2', rows: count },
      ];
      expect([rows('document'), rows('entry')]).toEqual([left(2_500), left(1_250)]);
      database.close();
    },
  );
});
