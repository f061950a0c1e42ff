import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createEventStoreDb } from '../../src/events/store/eventStoreDb/eventStore.js';
import { EventStoreUnavailable, NO_STREAM, START, type EventStore } from '../../src/events/store/eventStore.js';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { FakeCluster, type FakeSecurity } from '../support/eventStoreDbFake/fakeEventStoreDb.js';
import { follow, idsOf, newEvents } from '../support/eventStoreEvents.js';
import { temporaryFolder } from '../support/temporary.js';

/** TLS and credentials, which every server requires that does not run with `--insecure`. */

const PASSWORD = 'pass@word:50%?';
const ENCODED_PASSWORD = encodeURIComponent(PASSWORD);

interface Certificate {
  readonly certificateFile: string;
  readonly certificate: Buffer;
  readonly key: Buffer;
}

/** Makes a self-signed certificate of `address`. */
const makeCertificate = (address: string): Certificate => {
  const folder = temporaryFolder();
  const [certificateFile, keyFile] = [join(folder, 'node.crt'), join(folder, 'node.key')];
  const args = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=eventstoredb-node`.split(' ');
  const files = ['-keyout', keyFile, '-out', certificateFile, '-addext', `subjectAltName=${address}`];
  execFileSync('openssl', [...args, ...files], { stdio: 'ignore' });
  return { certificateFile, certificate: readFileSync(certificateFile), key: readFileSync(keyFile) };
};

const fakes: FakeCluster[] = [];
const opened: EventStore[] = [];
let logged: unknown[] = [];
let own: Certificate;
let others: Certificate;

/** Whether openssl is installed, which makes the certificates. */
const openssl = spawnSync('openssl', ['version']).status === 0;

beforeAll(() => {
  if (!openssl) return;
  own = makeCertificate('IP:127.0.0.1');
  others = makeCertificate('DNS:elsewhere.example.com');
});

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  for (const fake of fakes.splice(0)) fake.stop();
  logged = [];
});

const startFake = async (nodes = 1, certificate = own): Promise<FakeCluster> => {
  const security: FakeSecurity = { ...certificate, user: 'admin', password: PASSWORD };
  const fake = await FakeCluster.start(nodes, security);
  fakes.push(fake);
  return fake;
};

const open = (url: string): EventStore => {
  const keep = (...line: unknown[]): void => {
    logged.push(...line);
  };
  const store = createEventStoreDb({ url, clock: systemClock, random: systemRandom, logger: { info: keep, warn: keep } });
  opened.push(store);
  return store;
};

const withFile = ({ certificateFile }: Certificate): string => `tls=true&tlsCaFile=${encodeURIComponent(certificateFile)}`;

/** All text of an error and its causes. */
const everythingOf = (error: unknown): string =>
  error instanceof Error ? [error.stack, JSON.stringify(error), everythingOf(error.cause)].join('\n') : String(error);

/** The error of a call. Asserts that neither the error nor the log holds the password. */
const errorOf = async (call: Promise<unknown>): Promise<Error> => {
  const error = await call.then(
    () => new Error('it succeeded'),
    (fault: unknown) => fault,
  );
  const printed = [everythingOf(error), ...logged.map(everythingOf)].join('\n');
  for (const secret of [PASSWORD, ENCODED_PASSWORD, Buffer.from(`admin:${PASSWORD}`).toString('base64')])
    expect(printed).not.toContain(secret);
  if (!(error instanceof Error)) throw new Error('no error');
  return error;
};

const worksOn = async (store: EventStore): Promise<void> => {
  const events = newEvents(2);
  await store.append('thing-1', events, NO_STREAM);
  expect(idsOf((await store.readStream('thing-1')).events)).toEqual(idsOf(events));
  expect(idsOf((await follow(store, { after: START }, (seen) => seen.events.length === 2)).events)).toEqual(idsOf(events));
};

(openssl ? describe : describe.skip)(`TLS and a password${openssl ? '' : ' (there is no openssl here)'}`, () => {
  test('everything works with the authority named and the right password, percent-encoded', async () => {
    const fake = await startFake();
    await worksOn(open(`esdb://admin:${ENCODED_PASSWORD}@${fake.hosts}?${withFile(own)}`));
  });

  test('in a cluster the leader is found, also after it has moved', async () => {
    const fake = await startFake(3);
    const store = open(`kurrentdb://admin:${ENCODED_PASSWORD}@${fake.hosts}?${withFile(own)}`);
    await worksOn(store);
    fake.leader = fake.nodes[1] ?? null;
    expect(await store.append('thing-1', newEvents(1), 1n)).toMatchObject({ revision: 2n });
  });

  test.each([
    ['a wrong password', 'admin:wrong@'],
    ['no password', ''],
  ])('%s is reported by every call', async (_, credentials) => {
    const fake = await startFake();
    const store = open(`esdb://${credentials}${fake.hosts}?${withFile(own)}`);
    for (const call of [
      store.lastPosition(),
      store.append('thing-1', newEvents(1), NO_STREAM),
      follow(store, { after: START }, () => true),
    ]) {
      const error = await errorOf(call);
      expect(error).toBeInstanceOf(EventStoreUnavailable);
      expect(error.message).toContain('Unauthenticated');
    }
    expect(fake.log.stream('thing-1')).toEqual([]);
  });

  test.each<[string, () => Certificate, (hosts: string) => string, RegExp]>([
    ['an unknown authority', () => own, (hosts) => `${hosts}?tls=true`, /self-signed certificate/],
    ['another authority', () => own, (hosts) => `${hosts}?${withFile(others)}`, /self-signed certificate|unable to verify/],
    ['a certificate of another host', () => others, (hosts) => `${hosts}?${withFile(others)}`, /not in the cert|altnames/],
    ['a server without TLS', () => own, (hosts) => `${hosts}?${withFile(own)}`, /SSL|EPROTO|wrong version/],
    ['a server with TLS, asked without', () => own, (hosts) => `${hosts}?tls=false`, /No connection established/],
  ])('%s is reported as the reason', async (what, certificate, addressOf, reason) => {
    const fake = what === 'a server without TLS' ? await FakeCluster.start() : await startFake(1, certificate());
    if (!fakes.includes(fake)) fakes.push(fake);
    const error = await errorOf(open(`esdb://admin:${ENCODED_PASSWORD}@${addressOf(fake.hosts)}`).lastPosition());
    expect(error).toBeInstanceOf(EventStoreUnavailable);
    expect(error.message).toMatch(reason);
  });

  test('the error for a cluster whose certificate is not trusted names its nodes and tlsCaFile', async () => {
    const fake = await startFake(2);
    const store = open(`esdb://admin:${ENCODED_PASSWORD}@${fake.hosts}?tls=true&maxDiscoverAttempts=2&discoveryInterval=20`);
    const error = await errorOf(store.lastPosition());
    expect(error.message).toContain(`none of the nodes ${fake.hosts} could be used`);
    expect(error.message).toContain('tlsCaFile');
  });

  test('a missing certificate file is reported at the start', async () => {
    const error = await errorOf(
      Promise.resolve().then(() => open(`esdb://admin:${ENCODED_PASSWORD}@127.0.0.1:1?tls=true&tlsCaFile=/nowhere/ca.crt`)),
    );
    expect(everythingOf(error)).toContain('File was not found');
  });

  test('without TLS the password is never sent', async () => {
    const printed = jest.spyOn(console, 'warn');
    const fake = await FakeCluster.start();
    fakes.push(fake);
    await worksOn(open(`esdb://admin:${ENCODED_PASSWORD}@${fake.hosts}?tls=false&tlsVerifyCert=false`));
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
    expect(fake.calls.withPassword).toBe(0);
  });
});
