import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { DatabaseSync } from '@photostructure/sqlite';
import { createEmbeddedLedger } from '../../src/integrations/payments/embedded.js';
import { systemClock } from '../../src/platform/clock.js';
import { eventually } from '../support/eventually.js';
import { launchOperation, mintToken, operate } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

let data: string;
beforeEach(async () => {
  data = temporaryFolder();
  await mintToken(data);
});

test('a backup into the data folder, which would go on into itself, is refused', async () => {
  // SQLite removes these two when nothing has a database open any more.
  const listed = (): string[] => readdirSync(data).filter((name) => !/-(?:shm|wal)$/.test(name));
  const [link, before] = [join(temporaryFolder(), 'link'), listed()];
  symlinkSync(data, link);
  for (const target of [data, join(data, 'backup'), join(link, 'a', 'b')]) {
    await expect(operate(data, 'backup', [target])).rejects.toThrow('must be outside the data folder');
  }
  expect(listed()).toEqual(before);
});

test('a mistyped data folder is no empty backup', async () => {
  const target = join(temporaryFolder(), 'backup');
  const empty = temporaryFolder();
  for (const folder of [empty, join(empty, 'missing')]) {
    await expect(operate(data, 'backup', [target], { DATA_DIR: folder })).rejects.toThrow(`there is no events.db in ${folder}`);
  }
  expect(existsSync(target)).toBe(false);
});

test('an option is not taken for a folder', async () => {
  await expect(operate(data, 'backup', ['--dry-run'])).rejects.toThrow('Usage: npm run --silent backup');
  expect(existsSync(join(data, '--dry-run'))).toBe(false);
});

test('a backup that cannot be completed says so', async () => {
  const target = join(temporaryFolder(), 'backup');
  // It cannot be read as a database.
  mkdirSync(join(data, 'ledger.db'));
  await expect(operate(data, 'backup', [target])).rejects.toThrow(/The backup in .* is incomplete: .*\. Remove that folder/);
});

test('a backup is completed though nobody reads what it says', async () => {
  const target = join(temporaryFolder(), 'backup');
  const child = launchOperation(data, 'backup', [target]);
  let problems = '';
  child.stderr.on('data', (chunk: Buffer) => (problems += chunk.toString()));
  child.stdout.destroy();
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(problems).toBe('');
  expect(readdirSync(target).sort()).toEqual(['events.db', 'read-models.db', 'records.db', 'vault.db']);
});

test('a backup has what the service keeps, through links to other disks, and nothing that lies beside it', async () => {
  const [target, disk] = [join(temporaryFolder(), 'backup'), temporaryFolder()];
  writeFileSync(join(disk, 'mail.json'), 'mail');
  symlinkSync(disk, join(data, 'outbox'));
  // As on a disk of its own, and as `npm run demo` makes it.
  for (const folder of ['lost+found', 'demo']) mkdirSync(join(data, folder), { mode: 0o000 });
  symlinkSync(disk, join(data, 'elsewhere'));
  await operate(data, 'backup', [target]);
  expect(readdirSync(target).sort()).toEqual(['events.db', 'outbox', 'read-models.db', 'records.db', 'vault.db']);
  expect(readFileSync(join(target, 'outbox/mail.json'), 'utf8')).toBe('mail');
});

test('after a move to servers a backup copies no store that was moved: the old vault would undo erasures', async () => {
  mkdirSync(join(data, 'repositories'));
  const key = { ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') };
  const [eventStore, readModels] = [
    { EVENT_STORE_URL: 'esdb://127.0.0.1:1?tls=false' },
    { READ_MODEL_URL: 'mongodb://127.0.0.1:1' },
  ];
  const copied = async (settings: Readonly<Record<string, string>>): Promise<string[]> => {
    const target = join(temporaryFolder(), 'backup');
    expect(await operate(data, 'backup', [target], { ...key, ...settings })).not.toContain('encryption.key');
    return readdirSync(target).sort();
  };
  expect(await copied({ ...eventStore, ...readModels })).toEqual(['repositories']);
  expect(await copied(eventStore)).toEqual(['read-models.db', 'records.db', 'repositories', 'vault.db']);
  expect(await copied(readModels)).toEqual(['events.db', 'repositories']);
});

test.each(['there is a ledger before', 'it is the first'])(
  'a subscription that is made while the log is copied is in the backup: %s',
  async (ledgerIs) => {
    const [folder, target] = [temporaryFolder(), join(temporaryFolder(), 'backup')];
    // In a process of its own, which keeps no file open.
    await operate(folder, 'mintToken', ['--name', 'x', '--subject', 'ada@example.com', '--role', 'admin']);
    const openLedger = (of: string) =>
      createEmbeddedLedger({
        file: join(of, 'ledger.db'),
        clock: systemClock,
        baseUrl: () => '',
        personal: { display: (text) => Promise.resolve(text) },
      });
    const ledger = openLedger(folder);
    const subscribe = (websiteId: string) =>
      ledger.createSubscription({ customerId: 'client', clientId: 'client', websiteId, claim: websiteId }, () => undefined);
    if (ledgerIs === 'there is a ledger before') await subscribe('site-1');

    // The copy of the vault, which follows that of the log, waits for this.
    const vault = new DatabaseSync(join(folder, 'vault.db'));
    vault.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT');
    const backup = operate(folder, 'backup', [target]);
    await eventually('the copy of the log', () => existsSync(join(target, 'events.db')) || undefined);
    const { id } = await subscribe('site-2');
    ledger.close();
    vault.close();
    await backup;

    const copy = openLedger(target);
    expect(await copy.findSubscription('client', 'site-2')).toMatchObject({ id });
    copy.close();
  },
);
