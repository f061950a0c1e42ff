import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { DatabaseSync } from '@photostructure/sqlite';
import { openInstallation, type Installation } from '../../src/compose/installation.js';
import { NO_STREAM, START, type StoredEvent } from '../../src/events/store/eventStore.js';
import { compareLogs } from '../../src/operations/moving/moveLog.js';
import { AlreadyMoved, moveInstallation, type Moved } from '../../src/operations/moving/moveInstallation.js';
import { systemClock } from '../../src/platform/clock.js';
import { loadSettings } from '../../src/platform/settings/settings.js';
import { newEvent, newEvents } from '../support/eventStoreEvents.js';
import { launchOperation, operate } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

const open = (folder: string): Promise<Installation> => openInstallation(loadSettings({ DATA_DIR: folder }), systemClock);

/** An installation with a log, made as a start does, by a process that has ended. */
const made = async (): Promise<Installation> => {
  const folder = temporaryFolder();
  await operate(folder, 'mintToken', ['--role', 'admin', '--subject', 'ops@example.com']);
  return open(folder);
};

const move = (from: Installation, to: Installation): Promise<Moved> =>
  moveInstallation({ from, to, clock: systemClock, onProgress: () => undefined });

const positionOf = async ({ records }: Installation, worker: string): Promise<unknown> =>
  (await records.get('workerPositions', worker))?.['position'];

test('positions of workers say the same in the new log, whatever lies between positions in either', async () => {
  const [from, to] = [await made(), await open(temporaryFolder())];
  const start = (await from.log.readAll({ after: START })).events.length;
  await from.log.append('website-1', newEvents(3), NO_STREAM);
  const positions = ['0', String(start), String(start + 2), String(start + 3)];
  for (const position of positions) await from.records.put('workerPositions', position, { position });
  await from.records.put('workerPositions', 'beyond', { position: String(start + 900) });
  // The new log begins later.
  const shifted = {
    ...to.log,
    readAll: async (options: Parameters<Installation['log']['readAll']>[0]) => {
      const page = await to.log.readAll({ ...options, after: options.after / 100n });
      const moved = (one: StoredEvent): StoredEvent => ({ ...one, position: one.position * 100n });
      return { ...page, events: page.events.map(moved), position: page.position * 100n };
    },
  };
  await move(from, { ...to, log: shifted });
  for (const position of positions) expect(await positionOf(to, position)).toBe(String(Number(position) * 100));
  expect(await positionOf(to, 'beyond')).toBe(String((start + 3) * 100));
  await Promise.all([from.close(), to.close()]);
});

test('a later attempt takes over what has changed since, and forgets what was deleted', async () => {
  const [from, to] = [await made(), await open(temporaryFolder())];
  await from.vault.put('vaultKeys', 'erased', { wrapped: 'x' });
  await from.records.put('signIn.Session', 'ended', { encrypted: 'x' });
  const fault = new Error('killed');
  const cutOff = { ...from, vault: { ...from.vault, entries: entriesThenFault(from.vault, fault) } };
  await expect(move(cutOff, to)).rejects.toThrow(fault);
  expect(await to.records.get('signIn.Session', 'ended')).not.toBeNull();
  expect(await to.vault.get('vaultKeys', 'erased')).not.toBeNull();

  await from.vault.delete('vaultKeys', 'erased');
  await from.records.delete('signIn.Session', 'ended');
  await from.log.append('website-1', newEvents(2), NO_STREAM);
  const { events } = await move(from, to);
  expect(events.count).toBe((await from.log.readAll({ after: START })).events.length);
  expect(await to.records.get('signIn.Session', 'ended')).toBeNull();
  expect(await to.vault.get('vaultKeys', 'erased')).toBeNull();
  await expect(move(from, to)).rejects.toThrow(AlreadyMoved);
  await Promise.all([from.close(), to.close()]);
});

const entriesThenFault = (records: Installation['records'], fault: Error): Installation['records']['entries'] =>
  async function* entries() {
    yield* records.entries();
    throw fault;
  };

test('what is made anew from the log stays behind, though the old store has it among its records', async () => {
  const [from, to] = [await made(), await open(temporaryFolder())];
  const derived = ['projectionFailures', 'parkedDocuments', 'rebuilds', 'foldSnapshot'];
  for (const collection of derived) await from.records.put(collection, 'website-1', { state: 'x' });
  await move(from, to);
  for (const collection of derived)
    expect([collection, await to.records.get(collection, 'website-1')]).toEqual([collection, null]);
  await Promise.all([from.close(), to.close()]);
});

test('streams that were dropped are as long as they were, and go on where they went on', async () => {
  const [from, to] = [await made(), await open(temporaryFolder())];
  await from.log.append('client-1', newEvents(3), NO_STREAM);
  await from.log.append('client-2', newEvents(2), NO_STREAM);
  await from.log.drop('client-1', 2n);
  await from.log.drop('client-2', 1n);
  await from.log.append('client-2', newEvents(1), 1n);
  await move(from, to);
  expect(await to.log.dropped()).toEqual(await from.log.dropped());
  for (const stream of ['client-1', 'client-2', 'client-3']) {
    const there = await from.log.readStream(stream);
    const here = await to.log.readStream(stream);
    expect([here.head, here.events.map(({ id }) => id)]).toEqual([there.head, there.events.map(({ id }) => id)]);
  }
  await Promise.all([from.close(), to.close()]);
});

test('stores that something else uses are refused, before anything is written', async () => {
  const [from, other, used] = [await made(), await made(), await open(temporaryFolder())];
  await expect(move(from, other)).rejects.toThrow('the new event store has events');
  await used.records.put('signIn.Session', 'a', {});
  await expect(move(from, used)).rejects.toThrow('the new read models have been used');
  await used.records.delete('signIn.Session', 'a');
  await used.vault.put('vaultRoots', '0', {});
  await expect(move(from, used)).rejects.toThrow('the new vault has keys');
  await used.vault.delete('vaultRoots', '0');
  expect((await used.log.readAll({ after: START })).events).toEqual([]);
  await move(from, used);
  await expect(move(other, used)).rejects.toThrow('another installation is moved there');
  await Promise.all([from.close(), other.close(), used.close()]);
});

test('a comparison finds each difference between two logs', async () => {
  const [one, other] = [await open(temporaryFolder()), await open(temporaryFolder())];
  const events = newEvents(3).map((event, index) => ({
    ...event,
    stream: `website-${String(index % 2)}`,
    revision: BigInt(Math.floor(index / 2)),
    position: BigInt(index + 1),
    recordedAt: '2020-01-01T00:00:00.000Z',
  }));
  await one.log.copy(events);
  await other.log.copy(events);
  const compare = (change: (all: readonly StoredEvent[]) => readonly StoredEvent[]) => {
    const readAll: Installation['log']['readAll'] = async (options) => {
      const read = await other.log.readAll(options);
      return { ...read, events: change(read.events) };
    };
    return compareLogs(one.log, { readAll, dropped: () => other.log.dropped() }, [], () => undefined);
  };
  const { digest } = await compare((all) => all);
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  const changes: readonly Partial<StoredEvent>[] = [
    { id: newEvent().id },
    { type: 'Other' },
    { schemaVersion: 2 },
    { data: { index: 7 } },
    { recordedAt: '2020-01-01T00:00:00.001Z' },
    { stream: 'website-2' },
    { revision: 5n },
    { metadata: { ...newEvent().metadata, requestId: 'other' } },
  ];
  for (const change of changes) {
    await expect(compare((all) => all.map((event, at) => (at === 1 ? { ...event, ...change } : event)))).rejects.toThrow(
      'is not equal',
    );
  }
  await expect(compare((all) => all.toReversed())).rejects.toThrow('is not equal');
  await expect(compare((all) => all.slice(1))).rejects.toThrow('is not equal');
  await expect(compare((all) => all.slice(0, 2))).rejects.toThrow('is not equal');
  await expect(compare((all) => [...all, ...all.slice(0, 1)])).rejects.toThrow('is not equal');
  await Promise.all([one.close(), other.close()]);
});

test('nothing is moved from a folder that a process uses, and no process can read it meanwhile', async () => {
  const folder = temporaryFolder();
  await operate(folder, 'mintToken', ['--role', 'admin', '--subject', 'ops@example.com']);
  const alone = await open(folder);
  for (const name of ['events.db', 'read-models.db', 'records.db', 'vault.db']) {
    const database = new DatabaseSync(join(folder, name), { timeout: 0 });
    expect(() => {
      database.exec('SELECT 1 FROM sqlite_master');
    }).toThrow('locked');
    database.close();
  }
  const second = launchOperation(folder, 'move', ['--to-folder', join(temporaryFolder(), 'new')]);
  let problems = '';
  for await (const chunk of second.stderr) problems += String(chunk);
  expect(problems).toContain('another process has the files in');
  await alone.close();
});

test('a move to a folder copies nothing over its own source, another installation, or one that was moved', async () => {
  const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()];
  // By processes of their own: this one would keep the files open.
  for (const data of [folder, elsewhere]) await operate(data, 'mintToken', ['--role', 'admin', '--subject', 'ops@example.com']);
  const ledger = (data: string) => new DatabaseSync(join(data, 'ledger.db'));
  const rowsOf = (data: string): unknown => {
    const database = ledger(data);
    const rows = database.prepare('SELECT of FROM invoice').all() as { of: string }[];
    database.close();
    return rows.map(({ of }) => of);
  };
  for (const data of [folder, elsewhere]) {
    const database = ledger(data);
    database.exec(`CREATE TABLE invoice (of); INSERT INTO invoice VALUES ('${data}')`);
    database.close();
  }
  for (const target of [folder, join(folder, 'new')]) {
    await expect(operate(folder, 'move', ['--to-folder', target])).rejects.toThrow('must be outside the data folder');
  }
  await expect(operate(folder, 'move', ['--to-folder', elsewhere])).rejects.toThrow('the new event store has events');
  expect([rowsOf(folder), rowsOf(elsewhere)]).toEqual([[folder], [elsewhere]]);

  const target = join(temporaryFolder(), 'new');
  await operate(folder, 'move', ['--to-folder', target]);
  const database = ledger(target);
  database.exec("INSERT INTO invoice VALUES ('later')");
  database.close();
  expect(await operate(folder, 'move', ['--to-folder', target])).toContain('is moved there already');
  expect(rowsOf(target)).toEqual([folder, 'later']);
});

test('an empty ENCRYPTION_KEY is none, as everywhere', async () => {
  const folder = temporaryFolder();
  await operate(folder, 'mintToken', ['--role', 'admin', '--subject', 'ops@example.com']);
  const servers = ['--to-event-store', 'esdb://127.0.0.1:1?tls=false', '--to-read-models', 'mongodb://127.0.0.1:1'];
  const moved = operate(folder, 'move', [...servers, '--dry-run'], { ENCRYPTION_KEY: '' });
  await expect(moved).rejects.not.toThrow('ENCRYPTION_KEY');
});
