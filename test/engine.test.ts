import { expect, test } from '@jest/globals';
import { systemClock } from '../src/platform/clock.js';
import { openSecrets } from './support/vaults.js';
import { createMemoryRecords } from './workers/memoryStores.js';
import { engineOn, openStores } from './workers/engines.js';

test('a blind index stays what it is: addresses and subjects are found by it in every log there is', async () => {
  const { blindIndex } = engineOn(await openStores());
  expect(blindIndex('anna@example.com')).toBe('bz4573hq1tx5jh72bq7450h3t4');
  expect(blindIndex('Anna@example.com')).not.toBe(blindIndex('anna@example.com'));
});

test('a blind index tells nothing to who does not have the key', async () => {
  const stores = await openStores();
  const others = await openSecrets(createMemoryRecords(), systemClock, [new Uint8Array(32).fill(1)]);
  const index = engineOn(stores).blindIndex('anna@example.com');
  expect(engineOn({ ...stores, ...others }).blindIndex('anna@example.com')).not.toBe(index);
});
