import { expect, test } from '@jest/globals';
import { createKeyUse } from '../../src/http/auth/keyUse.js';
import { createLogger } from '../../src/platform/logger.js';
import { eventually } from '../support/eventually.js';
import { createTestClock } from '../support/testClock.js';
import { openStores } from '../workers/engines.js';

const dayMs = 86_400_000;

test('when a key was used last is kept for 400 days, and then no record of it is left', async () => {
  const clock = createTestClock();
  const { records } = (await openStores(clock)).readModels;
  const keyUse = createKeyUse({ records, logger: createLogger({ level: 'silent' }) });
  const at = clock.now();
  keyUse.note('key', at);
  await eventually('the record', () => keyUse.lastUsedAt('key'));
  clock.setTime(at + 399 * dayMs);
  expect(await keyUse.lastUsedAt('key')).toBe(new Date(at).toISOString());
  clock.setTime(at + 400 * dayMs);
  expect(await keyUse.lastUsedAt('key')).toBeUndefined();
  expect(await records.purgeExpired()).toBe(1);
});
