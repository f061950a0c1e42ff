import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { userInfo } from 'node:os';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createDnsResolver } from '../../src/integrations/dns/resolver.js';
import type { Dns } from '../../src/integrations/dns/port.js';
import { systemClock } from '../../src/platform/clock.js';
import { createLogger } from '../../src/platform/logger.js';
import { startDnsServer, type DnsServer } from '../support/dnsServer.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/fleet.js';
import { createTestClock } from '../support/testClock.js';

const logger = createLogger({ level: 'silent', destination: { write: () => undefined } });
const PATH = `${process.env.PATH ?? ''}:/usr/sbin`;
let server: DnsServer;
let dns: Dns;

beforeAll(async () => {
  server = await startDnsServer();
  dns = createDnsResolver({ servers: [server.address], clock: systemClock, logger });
  server.zone.set('texts.example', { TXT: ['one', 'x'.repeat(600)] });
  server.zone.set('www.example', { CNAME: 'Sites.Example.Net' });
  server.zone.set('Sites.Example.Net', { A: ['192.0.2.10'], AAAA: ['2001:db8::10'] });
  server.zone.set('empty.example', {});
});
afterEach(() => {
  server.mood = 'answer';
});

describe('DNS', () => {
  test('tells texts, put together from their parts', async () => {
    expect([...(await dns.texts('texts.example'))].sort()).toEqual(['one', 'x'.repeat(600)]);
  });

  test('tells where a name leads, in lower case', async () => {
    expect(await dns.canonicalNames('www.example')).toEqual(['sites.example.net']);
    expect(await dns.addresses('www.example')).toEqual(['192.0.2.10', '2001:db8::10']);
  });

  test.each(['empty.example', 'nowhere.example'])('has nothing at %s', async (name) => {
    expect([await dns.texts(name), await dns.canonicalNames(name), await dns.addresses(name)]).toEqual([[], [], []]);
  });

  test('that fails is a transient fault', async () => {
    server.mood = 'failure';
    await expect(dns.texts('texts.example')).rejects.toMatchObject({
      ...{ name: 'ProviderFault', provider: 'DNS', transient: true, message: 'DNS cannot be asked right now' },
    });
  });

  const tooLate = {
    name: 'ProviderFault',
    transient: true,
    message: 'DNS did not answer in time',
    cause: { name: 'TimeoutError' },
  };

  test('that is silent is given up by the resolver', async () => {
    server.mood = 'silence';
    await expect(dns.texts('texts.example')).rejects.toMatchObject(tooLate);
  });

  test('that is silent at one server after the other is given up after 3 s', async () => {
    server.mood = 'silence';
    const clock = createTestClock();
    const servers = Array.from({ length: 5 }, () => server.address);
    const outcome = createDnsResolver({ servers, clock, logger })
      .texts('texts.example')
      .catch((error: unknown) => error);
    await clock.advance(3_000);
    expect(await outcome).toMatchObject(tooLate);
    expect(clock.pending()).toBe(0);
  });
});

const isDnsmasqThere = process.env.CI === 'true' || spawnSync('dnsmasq', ['--version'], { env: { PATH } }).error === undefined;
if (!isDnsmasqThere) console.info('dnsmasq is not installed (apt-get install dnsmasq-base): DNS is not asked of it.');

(isDnsmasqThere ? describe : describe.skip)('dnsmasq', () => {
  let dnsmasq: ChildProcess;
  let asked: Dns;
  beforeAll(async () => {
    const port = await freePort();
    const zone = [
      `--txt-record=texts.example,one,${'x'.repeat(200)}`,
      '--cname=www.example,sites.example',
      '--host-record=sites.example,192.0.2.10,2001:db8::10',
      '--local=/example/',
    ];
    const alone = [
      '--keep-in-foreground',
      '--conf-file=/dev/null',
      '--no-resolv',
      '--no-hosts',
      '--bind-interfaces',
      '--pid-file=',
    ];
    const args = [...alone, `--user=${userInfo().username}`, '--listen-address=127.0.0.1', `--port=${String(port)}`, ...zone];
    dnsmasq = spawn('dnsmasq', args, { env: { PATH }, stdio: 'ignore' });
    asked = createDnsResolver({ servers: [`127.0.0.1:${String(port)}`], clock: systemClock, logger });
    await eventually('it answers', async () => {
      const texts = await asked.texts('texts.example').catch(() => []);
      return texts.length > 0 ? true : undefined;
    });
  });
  afterAll(async () => {
    dnsmasq.kill();
    if (dnsmasq.exitCode === null && dnsmasq.signalCode === null) await once(dnsmasq, 'exit');
  });

  test('is understood: texts, names, addresses, and what is not there', async () => {
    expect(await asked.texts('texts.example')).toEqual([`one${'x'.repeat(200)}`]);
    expect(await asked.canonicalNames('www.example')).toEqual(['sites.example']);
    expect([...(await asked.addresses('www.example'))].sort()).toEqual(['192.0.2.10', '2001:db8::10']);
    expect([await asked.texts('sites.example'), await asked.addresses('nowhere.example')]).toEqual([[], []]);
  });
});
