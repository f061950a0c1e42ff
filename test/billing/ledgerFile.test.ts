import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { noteLedger, requireLedger } from '../../src/compose/ledgerFile.js';
import { createEmbeddedLedger } from '../../src/integrations/payments/embedded.js';
import { createDurableRecords } from '../../src/projections/store/embedded/durableRecords.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock } from '../support/testClock.js';

const start = async (noteUse?: 'noteUse') => {
  const [folder, clock] = [temporaryFolder(), createTestClock()];
  const file = join(folder, 'ledger.db');
  const vault = await createDurableRecords({ file: join(folder, 'vault.db'), clock });
  const ledger = createEmbeddedLedger({
    file,
    clock,
    baseUrl: () => 'https://doorstep.example',
    personal: { display: (text) => Promise.resolve(text) },
    ...(noteUse && { noteUse: () => noteLedger(vault) }),
  });
  const subscribe = () =>
    ledger.createSubscription({ claim: 'claim', customerId: 'ada', clientId: 'ada', websiteId: 'bakery' }, () => undefined);
  /** Ends the process, and loses its ledger. */
  const lose = () => {
    ledger.close();
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  };
  return { ledger, subscribe, lose, file, vault };
};

test('a start without the ledger that was there is refused, until it or an empty file is put back', async () => {
  // As an earlier version, which noted nothing.
  const { subscribe, lose, file, vault } = await start();
  // None was used yet.
  await requireLedger(vault, file);
  await subscribe();
  await requireLedger(vault, file);
  lose();
  await expect(requireLedger(vault, file)).rejects.toThrow('DATA_DIR (ledger.db): is gone');
  writeFileSync(file, '');
  await requireLedger(vault, file);
  await vault.close();
});

test('a ledger that is used and lost within one run was there', async () => {
  const { subscribe, lose, file, vault } = await start('noteUse');
  await requireLedger(vault, file);
  await subscribe();
  lose();
  await expect(requireLedger(vault, file)).rejects.toThrow('DATA_DIR (ledger.db): is gone');
  await vault.close();
});

test('a ledger that was only read keeps no other machine from its start', async () => {
  const { ledger, lose, file, vault } = await start('noteUse');
  expect(await ledger.countInvoices({})).toBe(0);
  await requireLedger(vault, file);
  lose();
  await requireLedger(vault, file);
  await vault.close();
});
