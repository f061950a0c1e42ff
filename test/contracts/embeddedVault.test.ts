import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import { DatabaseSync } from '@photostructure/sqlite';
import { systemClock } from '../../src/platform/clock.js';
import { createDurableRecords } from '../../src/projections/store/embedded/durableRecords.js';
import { temporaryFolder } from '../support/temporary.js';
import { describeVault } from './vault.contract.js';

const opened: { readonly close: () => Promise<void> }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

describeVault('an SQLite file', () => {
  const file = join(temporaryFolder(), 'vault.db');
  return Promise.resolve({
    open: async () => {
      const records = await createDurableRecords({ file, clock: systemClock });
      opened.push(records);
      return records;
    },
    stored: () => {
      const database = new DatabaseSync(file, { readOnly: true });
      const rows = database.prepare('SELECT collection, key, value FROM record').all();
      database.close();
      return Promise.resolve(rows.map((row) => JSON.stringify(row)));
    },
  });
});
