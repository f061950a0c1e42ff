import { expect, test } from '@jest/globals';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import { EventStoreUnavailable } from '../../src/events/store/eventStore.js';
import { systemClock } from '../../src/platform/clock.js';
import type { Reader } from '../../src/projections/reader.js';
import { createDomainDirectory, createSiteDirectory } from '../../src/projections/website/siteDirectory.js';
import { startDnsServer } from '../support/dnsServer.js';
import { startApi, type RunningApi } from '../support/http.js';

/** As the end of a provisioning does, with a project at this provider. */
const activate = async (api: RunningApi, path: string, provider: string, projectId: string): Promise<void> => {
  const hosting = { provider, projectId, name: projectId };
  const repository = { provider: 'github', id: 'r', name: 'r', cloneUrl: 'https://example.com/r.git' };
  await api.engine.handle(
    websiteDecider,
    { type: 'ActivateWebsite', websiteId: path.slice('/websites/'.length), repository, hosting, url: 'https://p.example/' },
    { commandId: api.engine.ids.commandId(), actor: { subject: 'test', role: 'system', via: 'worker' }, requestId: 'test' },
  );
};

test('while the event store is away, what was asked for before is found, and nothing else', async () => {
  const api = await startApi();
  const token = await api.mintToken();
  for (const slug of ['known', 'unknown']) {
    const { id } = (await api.call('POST', '/websites', { token, body: { name: 'Bakery', slug } })).body as { id: string };
    await activate(api, `/websites/${id}`, 'embedded', slug);
  }
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

test('at a domain is its website: served here, archived, elsewhere, or none', async () => {
  const dns = await startDnsServer();
  const api = await startApi({ environment: { DNS_SERVERS: dns.address } });
  const token = await api.mintToken();
  const domain = 'www.bakery.example';
  const post = async (path: string, body?: unknown): Promise<Record<string, unknown>> =>
    (await api.call('POST', path, { token, body })).body as Record<string, unknown>;
  let isAway = false;
  const read: Reader['read'] = (projection, id) =>
    isAway ? Promise.reject(new EventStoreUnavailable('away')) : api.engine.read(projection, id);
  const find = createDomainDirectory({ read }, 'embedded');
  const create = async (slug: string): Promise<string> =>
    `/websites/${String((await post('/websites', { name: 'Bakery', slug })).id)}`;
  const prove = async (website: string, hostname: string): Promise<void> => {
    const [record] = (await post(`${website}/domains`, { domain: hostname })).records as [{ name: string; value: string }];
    expect(await find(hostname)).toBeNull();
    dns.zone.set(record.name, { TXT: [record.value] });
    await post(`${website}/domains/${hostname}/verify`);
  };
  const website = await create('bakery');
  expect(await find(domain)).toBeNull();
  await prove(website, domain);
  expect(await find(domain)).toEqual({ kind: 'nothing' });
  await activate(api, website, 'embedded', 'bakery');
  const served = { kind: 'site', project: 'bakery', slug: 'bakery' };
  expect(await find(domain)).toEqual(served);
  isAway = true;
  expect(await find(domain)).toEqual(served);
  await expect(find('www.unknown.example')).rejects.toThrow('away');
  isAway = false;
  await post(`${website}/archive`);
  expect(await find(domain)).toEqual({ kind: 'archived' });

  const elsewhere = await create('inn');
  await activate(api, elsewhere, 'vercel', 'inn');
  await prove(elsewhere, 'www.inn.example');
  expect(await find('www.inn.example')).toEqual({ kind: 'nothing' });
});
