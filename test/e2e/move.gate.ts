import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { FakeCluster } from '../support/eventStoreDbFake/fakeEventStoreDb.js';
import { eventually } from '../support/eventually.js';
import { answersOf, filesOf, liveIn, workersAreDone } from '../support/livedIn.js';
import { minioBucket, whereMinioIs } from '../support/minio.js';
import { mongoDatabase } from '../support/mongoDatabase.js';
import { forEachReadModelServer } from '../support/realServers.js';
import { chanceOf } from '../support/seeded.js';
import { launchOperation, operate, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

const chance = chanceOf('move');

type Environment = Readonly<Record<string, string>>;

const ownEvents = ({ log }: FakeCluster): number => log.events.filter(({ stream }) => !stream.startsWith('$')).length;

/** The lines of a finished move that name how much was moved, and its digest. */
const digestsIn = (said: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...said.matchAll(/^ {2}([\d,]+) ([a-z ]+?) {2}([0-9a-f]{64})$/gm)].map(([, count = '', name = '', digest = '']) => [
      name,
      `${count} ${digest}`,
    ]),
  );

/** Runs a move and kills it once `when` says so, and some moments later; whether it had ended by itself. */
const moveKilled = async (
  dataDir: string,
  args: readonly string[],
  environment: Environment,
  when: () => Promise<boolean> | boolean,
): Promise<boolean> => {
  const moving = launchOperation(dataDir, 'move', args, environment);
  const exit = once(moving, 'exit');
  const hasEnded = (): boolean => moving.exitCode !== null;
  await eventually('the moment to kill it', async () => hasEnded() || (await when()) || undefined);
  await pause(chance() * 20);
  moving.kill('SIGKILL');
  await exit;
  return moving.exitCode === 0;
};

whereMinioIs(() => {
  forEachReadModelServer((server) => {
    test(`to an event store, ${server.name} and a bucket, killed again and again, and back into a folder`, async () => {
      const [dataDir, log] = [temporaryFolder(), await FakeCluster.start()];
      // By a process of its own: this one would keep the files open.
      const token = await operate(dataDir, 'mintToken', ['--role', 'admin', '--subject', 'ops@example.com']);
      const old = await startServer(dataDir);
      await liveIn(old.address, token, dataDir, 12);
      await workersAreDone(dataDir, {});
      const before = await answersOf(old.address, token);
      await old.kill('SIGTERM');
      const untouched = await filesOf(dataDir);

      const { bucket, endpoint = '', credentials } = await minioBucket();
      const { accessKeyId = '', secretAccessKey = '' } = credentials ?? {};
      const keys = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
      const readModels = mongoDatabase(server);
      const args = [
        '--to-event-store',
        log.url,
        '--to-read-models',
        readModels,
        '--to-files',
        `s3://${bucket}?endpoint=${endpoint}`,
      ];
      expect(await operate(dataDir, 'move', [...args, '--dry-run'], keys)).toMatch(
        /^\d+ events\n.*\n12 files with 600000 bytes\n/,
      );
      expect(ownEvents(log)).toBe(0);

      const encryptionKey = (await readFile(join(dataDir, 'encryption.key'), 'utf8')).trim();
      const environment: Environment = {
        ...keys,
        EVENT_STORE_URL: log.url,
        READ_MODEL_URL: readModels,
        ENCRYPTION_KEY: encryptionKey,
        S3_BUCKET: bucket,
        S3_ENDPOINT: endpoint,
      };
      const all = Number((await operate(dataDir, 'move', [...args, '--dry-run'], keys)).split(' ', 1)[0]);
      const copied = async (): Promise<boolean> => (await recordsOf(readModels)) > 0;
      // Before the first event, among them, after the last, and while records are copied.
      const moments = [() => true, ...[1, all / 3, all / 2, all - 1].map((count) => () => ownEvents(log) >= count), copied];
      for (const moment of moments) expect(await moveKilled(dataDir, args, keys, moment)).toBe(false);
      // What is half moved starts nowhere.
      await expect(startServer(temporaryFolder(), environment)).rejects.toThrow('the vault there belongs to another log');
      const said = await operate(dataDir, 'move', args, keys);
      expect(said).toContain('Moved, read again on both sides, and equal');
      expect(await filesOf(dataDir)).toEqual(untouched);
      const moved = ownEvents(log);

      // The folders of the embedded integrations stay where they are.
      const next = await startServer(dataDir, environment);
      expect(await answersOf(next.address, token)).toEqual(before);
      await workersAreDone(dataDir, environment);
      expect(ownEvents(log)).toBe(moved);
      expect(await next.kill('SIGTERM')).toBe(0);

      const folder = join(temporaryFolder(), 'back');
      for (const name of ['outbox', 'events.db', 'vault.db']) {
        const begun = (): boolean => existsSync(join(folder, name));
        expect(await moveKilled(dataDir, ['--to-folder', folder], environment, begun)).toBe(false);
      }
      expect(await operate(dataDir, 'move', ['--to-folder', folder], environment)).toMatch(
        /Moved, read again|is moved there already/,
      );
      const back = await startServer(folder, { ENCRYPTION_KEY: encryptionKey });
      expect(await answersOf(back.address, token)).toEqual(before);
      await workersAreDone(folder, { ENCRYPTION_KEY: encryptionKey });
      expect(await answersOf(back.address, token)).toEqual(before);
      expect(await back.kill('SIGTERM')).toBe(0);

      // Once there and once back is what it was.
      const first = digestsIn(await moveAnew(dataDir, await FakeCluster.start(), mongoDatabase(server), {}));
      const second = digestsIn(
        await moveAnew(folder, await FakeCluster.start(), mongoDatabase(server), { ENCRYPTION_KEY: encryptionKey }),
      );
      expect(second['events']).toBe(first['events']);
      expect(second['entries of the vault']).toBe(first['entries of the vault']);
      log.stop();
    }, 600_000);
  });
});

/** How many records are there, apart from those of the move and of the server. */
const recordsOf = async (url: string): Promise<number> => {
  const client = new MongoClient(url);
  try {
    return await client
      .db()
      .collection('records')
      .countDocuments({ _id: { $not: /^."(?:mongodb|move)/ } as never });
  } finally {
    await client.close();
  }
};

const moveAnew = async (dataDir: string, log: FakeCluster, readModels: string, environment: Environment): Promise<string> => {
  try {
    return await operate(dataDir, 'move', ['--to-event-store', log.url, '--to-read-models', readModels], environment);
  } finally {
    log.stop();
  }
};
