import { expect, test } from '@jest/globals';
import { createEngine } from '../src/engine.js';
import { engineOn, openStores } from './workers/engines.js';

test('a blind index stays what it is: addresses and subjects are found by it in every log there is', async () => {
  const { blindIndex } = engineOn(await openStores());
  expect(blindIndex('anna@example.com')).toBe('bz4573hq1tx5jh72bq7450h3t4');
  expect(blindIndex('Anna@example.com')).not.toBe(blindIndex('anna@example.com'));
});

test('a blind index tells nothing to who does not have the key', async () => {
  const engine = engineOn(await openStores());
  const stranger = createEngine({ ...engine, encryptionKey: new Uint8Array(32).fill(1) });
  expect(stranger.blindIndex('anna@example.com')).not.toBe(engine.blindIndex('anna@example.com'));
});
