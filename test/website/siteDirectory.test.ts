import { expect, test } from '@jest/globals';
import { EventStoreUnavailable } from '../../src/events/store/eventStore.js';
import { systemClock } from '../../src/platform/clock.js';
import type { Reader } from '../../src/projections/reader.js';
import { createSiteDirectory } from '../../src/projections/website/siteDirectory.js';
import { startApi } from '../support/http.js';

test('while the event store is away, what was asked for before is found, and nothing else', async () => {
  const api = await startApi();
  const token = await api.mintToken();
  for (const slug of ['known', 'unknown']) await api.call('POST', '/websites', { token, body: { name: 'Bakery', slug } });
  let isAway = false;
  const state: Reader['state'] = (fold, key) =>
    isAway ? Promise.reject(new EventStoreUnavailable('away')) : api.engine.state(fold, key);
  const find = createSiteDirectory({ read: api.engine.read, state }, 'embedded', systemClock);
  const known = { kind: 'site', project: 'known' };
  expect([await find('known'), await find('nowhere')]).toEqual([known, null]);
  isAway = true;
  expect([await find('known'), await find('nowhere')]).toEqual([known, null]);
  await expect(find('unknown')).rejects.toThrow('away');
});
