import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { FakeCluster } from '../support/eventStoreDbFake/fakeEventStoreDb.js';
import { answersOf, filesOf, liveIn, workersAreDone } from '../support/livedIn.js';
import { mongoDatabase } from '../support/mongoDatabase.js';
import { forEachReadModelServer } from '../support/realServers.js';
import { operate, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

const ownEvents = ({ log }: FakeCluster): number => log.events.filter(({ stream }) => !stream.startsWith('$')).length;

forEachReadModelServer((server) => {
  test(`an installation moves to an event store and ${server.name}, and answers there as before`, async () => {
    const [dataDir, log] = [temporaryFolder(), await FakeCluster.start()];
    // By a process of its own: this one would keep the files open.
    const token = await operate(dataDir, 'mintToken', ['--role', 'admin', '--subject', 'ops@example.com']);
    const old = await startServer(dataDir);
    await liveIn(old.address, token, dataDir, 1);
    await workersAreDone(dataDir, {});
    const before = await answersOf(old.address, token);
    const readModels = mongoDatabase(server);
    const addresses = ['--to-event-store', log.url, '--to-read-models', readModels];
    await expect(operate(dataDir, 'move', addresses)).rejects.toThrow('another process has the files in');
    expect(ownEvents(log)).toBe(0);
    await old.kill('SIGTERM');

    const untouched = await filesOf(dataDir);
    const said = await operate(dataDir, 'move', addresses);
    expect(said).toMatch(/^ {2}\d+ events {2}[0-9a-f]{64}$/m);
    const keyFile = join(dataDir, 'encryption.key');
    expect(said).toContain(`ENCRYPTION_KEY: the first line of ${keyFile}`);
    const encryptionKey = (await readFile(keyFile, 'utf8')).trim();
    expect(said).not.toContain(encryptionKey);
    expect(await filesOf(dataDir)).toEqual(untouched);
    expect(await operate(dataDir, 'move', addresses)).toContain('is moved there already; nothing was changed');

    // On another machine, with the folders that embedded integrations use and nothing else.
    const folder = temporaryFolder();
    for (const name of ['repositories', 'sites', 'outbox', 'files'])
      await cp(join(dataDir, name), join(folder, name), { recursive: true });
    const environment = { EVENT_STORE_URL: log.url, READ_MODEL_URL: readModels, ENCRYPTION_KEY: encryptionKey };
    const moved = ownEvents(log);
    const next = await startServer(folder, environment);
    expect(await answersOf(next.address, token)).toEqual(before);
    await workersAreDone(folder, environment);
    // Nobody reacted a second time.
    expect(ownEvents(log)).toBe(moved);
    expect(await answersOf(next.address, token)).toEqual(before);
    expect(await next.kill('SIGTERM')).toBe(0);
    log.stop();
  }, 120_000);
});
