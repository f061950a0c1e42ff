import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import type { ProviderFault } from '../../src/integrations/fault.js';
import type { Hosting } from '../../src/integrations/hosting/port.js';
import { createDomainWorker } from '../../src/workers/domain/domainWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { startDnsServer, type DnsServer } from '../support/dnsServer.js';
import { eventually } from '../support/eventually.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { partsOf } from '../support/process.js';
import { createShiftedClock } from '../support/shiftedClock.js';
import { positionOf } from '../workers/positions.js';
import {
  createRemote,
  directLine,
  permanentFault,
  providersOn,
  transientFault,
  type Line,
  type Remote,
} from '../workers/remote.js';

/** Websites at a hosting provider outside. */
let dns: DnsServer;
let api: RunningApi;
let token: string;
let remote: Remote;
let hosting: Hosting;
/** Why the provider does not add a domain. */
let refuse: () => ProviderFault | undefined;
/** Why it does not remove one. */
let keep: () => ProviderFault | undefined;
/** What happens while it adds one. */
let whileAdding: () => Promise<unknown>;
/** Why it does not say how a domain stands. */
let hide: () => ProviderFault | undefined;
const clock = createShiftedClock();
const workers: Worker[] = [];
const domain = 'www.bakery.example';
const challenge = { type: 'TXT', name: `_remote.${domain}`, value: 'verify-1', purpose: 'hosting' } as const;

const context = () => ({
  commandId: api.engine.ids.commandId(),
  actor: { subject: 'test', role: 'system', via: 'worker' } as const,
  requestId: 'test',
});

const activate = async (websiteId: string, projectId: string): Promise<void> => {
  const repository = { provider: 'remote', id: 'r', name: 'r', cloneUrl: 'https://remote.example/r.git' };
  const project = { provider: 'remote', projectId, name: projectId };
  const activation = { type: 'ActivateWebsite', websiteId, repository, hosting: project, url: 'https://p.example/' } as const;
  await api.engine.handle(websiteDecider, activation, context());
};

let count = 0;
const newWebsite = async (): Promise<string> => {
  count += 1;
  const body = { name: 'Bakery', slug: `bakery-${String(count)}` };
  return ((await api.call('POST', '/websites', { token, body })).body as { id: string }).id;
};
const add = (websiteId: string): Promise<ApiAnswer> =>
  api.call('POST', `/websites/${websiteId}/domains`, { token, body: { domain } });
const remove = (websiteId: string): Promise<ApiAnswer> =>
  api.call('DELETE', `/websites/${websiteId}/domains/${domain}`, { token });
const verify = (websiteId: string): Promise<ApiAnswer> =>
  api.call('POST', `/websites/${websiteId}/domains/${domain}/verify`, { token });
const startWorker = async (): Promise<void> => {
  const worker = createDomainWorker({ ...partsOf(api.engine), hosting });
  workers.push(worker);
  await worker.start();
};
/** Whatever was recorded before. */
const untilWorkerHasRead = async (): Promise<void> => {
  const head = await api.engine.eventStore.lastPosition();
  const hasRead = async () => BigInt((await positionOf(api.engine.records, 'domain')) ?? 0) >= head;
  await eventually('the worker has read all events', async () => ((await hasRead()) ? true : undefined));
};
const untilRemoteHas = (...domains: readonly string[]): Promise<true> =>
  eventually(`the provider has ${domains.join() || 'nothing'}`, () =>
    Promise.resolve([...remote.domains].join() === domains.join() ? true : undefined),
  );

beforeEach(async () => {
  dns = await startDnsServer();
  remote = createRemote();
  refuse = () => undefined;
  keep = () => undefined;
  whileAdding = () => Promise.resolve();
  hide = () => undefined;
  const line: Line = async (call, act) => {
    const fault = call === 'addDomain' ? refuse() : call === 'removeDomain' ? keep() : undefined;
    if (fault !== undefined) throw fault;
    if (call === 'addDomain') await whileAdding();
    return directLine(call, act);
  };
  const { hosting: direct } = providersOn(remote, line);
  hosting = {
    ...direct,
    findDomain: async (projectId, name) => {
      const fault = hide();
      if (fault !== undefined) throw fault;
      const found = await direct.findDomain(projectId, name);
      return { ...found, records: [{ type: 'CNAME', name, value: 'in.remote.example', purpose: 'address' }, { ...challenge }] };
    },
  };
  api = await startApi({ environment: { DNS_SERVERS: dns.address }, hosting, clock });
  token = await api.mintToken();
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop();
  await api.stop();
});

describe('the hosting provider', () => {
  test('has a domain from when it is added until it is removed, whoever works on it', async () => {
    const websiteId = await newWebsite();
    await activate(websiteId, 'p1');
    for (let index = 0; index < 2; index += 1) await startWorker();
    await add(websiteId);
    await untilRemoteHas(`p1 ${domain}`);
    await remove(websiteId);
    await untilRemoteHas();
    expect([...remote.domains]).toEqual([]);
  });

  test('has a domain that was added before there was a project, and none that was removed meanwhile', async () => {
    const [websiteId, otherId] = [await newWebsite(), await newWebsite()];
    await add(websiteId);
    await remove(websiteId);
    await add(otherId);
    await startWorker();
    await untilWorkerHasRead();
    for (const [id, project] of [
      [websiteId, 'p1'],
      [otherId, 'p2'],
    ] as const)
      await activate(id, project);
    await untilRemoteHas(`p2 ${domain}`);
    expect([...remote.domains]).toEqual([`p2 ${domain}`]);
  });

  test('that does not answer is asked again', async () => {
    const websiteId = await newWebsite();
    await activate(websiteId, 'p1');
    let left = 2;
    refuse = () => ((left -= 1) >= 0 ? transientFault() : undefined);
    await startWorker();
    await add(websiteId);
    await untilRemoteHas(`p1 ${domain}`);
    expect(left).toBeLessThan(0);
  });

  test('that refuses a domain is not asked for ever, and the check says why', async () => {
    const websiteId = await newWebsite();
    await activate(websiteId, 'p1');
    refuse = () => permanentFault('Another project has the domain');
    await startWorker();
    await add(websiteId);
    await eventually('it is refused', () =>
      Promise.resolve(api.log.some(({ msg }) => msg === 'the hosting provider refused a domain') ? true : undefined),
    );
    expect((await verify(websiteId)).body).toMatchObject({ status: 'pending', problem: 'Another project has the domain' });
    refuse = () => undefined;
    expect((await verify(websiteId)).body).not.toHaveProperty('problem');
    expect([...remote.domains]).toEqual([`p1 ${domain}`]);
  });

  test('names the records that it asks for, which a check looks for too', async () => {
    const websiteId = await newWebsite();
    await activate(websiteId, 'p1');
    await add(websiteId);
    dns.zone.set(challenge.name, { TXT: [challenge.value] });
    const checked = (await verify(websiteId)).body;
    expect(checked).toMatchObject({
      records: [
        { type: 'TXT', purpose: 'ownership', found: false },
        { type: 'CNAME', name: domain, value: 'in.remote.example', purpose: 'address', found: false },
        { ...challenge, found: true },
      ],
    });
    expect((await api.call('GET', `/websites/${websiteId}/domains/${domain}`, { token })).body).toEqual(checked);
  });

  test('that does not answer has the records that it asked for before', async () => {
    const websiteId = await newWebsite();
    await activate(websiteId, 'p1');
    const [proof] = ((await add(websiteId)).body as { records: [{ name: string; value: string }] }).records;
    dns.zone.set(challenge.name, { TXT: [challenge.value] });
    await verify(websiteId);
    hide = () => transientFault();
    dns.zone.set(proof.name, { TXT: [proof.value] });
    dns.zone.set(challenge.name, { TXT: [] });
    expect((await verify(websiteId)).body).toMatchObject({
      status: 'verified',
      problem: transientFault().message,
      records: [
        { type: 'TXT', purpose: 'ownership', found: true },
        { type: 'CNAME', name: domain, value: 'in.remote.example', purpose: 'address', found: false },
        { ...challenge, found: false },
      ],
    });
  });

  test('has no domain that was removed during a check', async () => {
    const websiteId = await newWebsite();
    await activate(websiteId, 'p1');
    await add(websiteId);
    whileAdding = () => remove(websiteId);
    expect((await verify(websiteId)).status).toBe(404);
    expect([...remote.domains]).toEqual([]);
  });

  test('that does not let go of a domain is asked again, and operators see it', async () => {
    const websiteId = await newWebsite();
    await activate(websiteId, 'p1');
    await startWorker();
    await add(websiteId);
    await untilRemoteHas(`p1 ${domain}`);
    let left = 2;
    keep = () => ((left -= 1) >= 0 ? permanentFault('The token may not remove domains') : undefined);
    await remove(websiteId);
    await untilRemoteHas();
    const failures = api.log.filter(({ msg }) => msg === 'the reaction to an event failed; it will be repeated');
    expect(failures).toHaveLength(2);
  });

  test('is not asked for anything by a check that is only tried', async () => {
    const websiteId = await newWebsite();
    await activate(websiteId, 'p1');
    await add(websiteId);
    await api.call('POST', `/websites/${websiteId}/domains/${domain}/verify?dryRun=1`, { token });
    expect([...remote.domains]).toEqual([]);
  });
});

test('a website that is deleted for good, and keeps its project, leaves no domain there', async () => {
  const websiteId = await newWebsite();
  await activate(websiteId, 'p1');
  await startWorker();
  await add(websiteId);
  await untilRemoteHas(`p1 ${domain}`);
  await api.call('POST', `/websites/${websiteId}/archive`, { token });
  const path = `/websites/${websiteId}?confirm=bakery-${String(count)}&keep=hosting`;
  const { purgeAt } = (await api.call('DELETE', path, { token })).body as { purgeAt: string };
  clock.shift(31 * 86_400_000);
  await api.engine.handle(websiteDecider, { type: 'DeleteWebsite', websiteId, purgeAt }, context());
  await untilRemoteHas();
});

test('a website that is deleted for good leaves its domains to others', async () => {
  const [websiteId, nextId] = [await newWebsite(), await newWebsite()];
  // One that is verified lapses never.
  const [record] = ((await add(websiteId)).body as { records: [{ name: string; value: string }] }).records;
  dns.zone.set(record.name, { TXT: [record.value] });
  expect((await verify(websiteId)).body).toMatchObject({ status: 'verified' });
  await startWorker();
  await api.call('POST', `/websites/${websiteId}/archive`, { token });
  const path = `/websites/${websiteId}?confirm=bakery-${String(count - 1)}`;
  const { purgeAt } = (await api.call('DELETE', path, { token })).body as { purgeAt: string };
  expect((await add(nextId)).status).toBe(400);
  clock.shift(31 * 86_400_000);
  await api.engine.handle(websiteDecider, { type: 'DeleteWebsite', websiteId, purgeAt }, context());
  await eventually('it is free', async () => ((await add(nextId)).status === 201 ? true : undefined));
});
