import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FakeCluster } from '../support/eventStoreDbFake/fakeEventStoreDb.js';
import type { FakeLog } from '../support/eventStoreDbFake/fakeLog.js';
import { eventually } from '../support/eventually.js';
import { createApi, operate, startServer, type Api, type ServerProcess } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/**
 * A process of the service that has much to do, on a fake EventStoreDB that answers all the same:
 * nobody is told that the event store is away.
 */
describe('a process that is busy with itself', () => {
  const dataDir = temporaryFolder();
  let fake: FakeCluster;
  let environment: Readonly<Record<string, string>>;
  let server: ServerProcess;
  let api: Api;

  /** Starts it far behind the log, with which it catches up. */
  beforeAll(async () => {
    fake = await FakeCluster.start();
    environment = {
      EVENT_STORE_URL: fake.url.replace('//', '//admin:s3cret@'),
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      LOG_LEVEL: 'info',
    };
    const token = await operate(dataDir, 'mintToken', ['--role', 'admin', '--subject', 'ops@example.com'], environment);
    const first = await startServer(dataDir, environment);
    const { body } = await createApi(first.address, token).post('/websites', { name: 'First', slug: 'first' });
    const { id } = body as { id: string };
    await eventually('the end of its provisioning', () =>
      fake.log.stream(`website-${id}`).some(({ type }) => type === 'WebsiteActivated') ? true : undefined,
    );
    await first.kill('SIGTERM');
    copyWebsite(fake.log, 3_000);
    server = await startServer(dataDir, environment);
    api = createApi(server.address, token);
  });

  afterAll(async () => {
    await server.kill('SIGTERM');
    fake.stop();
  });

  /** Answers of 64 commands that are sent at the same time. */
  const commandsAtOnce = (name: string): Promise<readonly string[]> =>
    Promise.all(
      Array.from({ length: 64 }, async (_, n) => {
        const { status, body } = await api.post('/websites', { name, slug: `${name}-${String(n)}` });
        return status === 201 ? 'created' : JSON.stringify(body);
      }),
    );
  const allCreated = Array.from({ length: 64 }, () => 'created');

  /** `ready`, or what `/readyz` says instead. */
  const readiness = async (): Promise<string> => {
    const answer = await fetch(`${server.address}/readyz`);
    return answer.ok ? 'ready' : answer.text();
  };

  test('answers 64 commands at once right after its start, from a server that was just started too', async () => {
    fake.faults.cold = { calls: 48, ms: 2_500 };
    const [answers, ...ready] = await Promise.all([commandsAtOnce('first'), readiness(), readiness()]);
    expect(answers).toEqual(allCreated);
    expect(ready).toEqual(['ready', 'ready']);
    expect(fake.faults.cold.calls).toBe(0);
  });

  test('answers them, too, when it could not listen for longer than an answer may take', async () => {
    fake.faults.cold = { calls: 64, ms: 500 };
    const answers = commandsAtOnce('second');
    await eventually('calls under way', () => (fake.faults.cold.calls < 48 ? true : undefined));
    process.kill(server.pid, 'SIGSTOP');
    await pause(2_000);
    process.kill(server.pid, 'SIGCONT');
    expect(await answers).toEqual(allCreated);
    expect(await readiness()).toBe('ready');
  });

  test('logs an outage as one line that says where, and one when it is over', async () => {
    // Steps of a provisioning that is still under way would fail, and be logged, too.
    await eventually(
      'all websites to be active',
      () => {
        const count = (wanted: string): number => fake.log.events.filter(({ type }) => type === wanted).length;
        return count('WebsiteActivated') === count('WebsiteCreated') ? true : undefined;
      },
      180_000,
    );
    const before = server.written().length;
    const lines = (): readonly Line[] =>
      server
        .written()
        .slice(before)
        .split('\n')
        .flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as Line] : []));
    const logged = (msg: string): true | undefined => (lines().some((line) => line.msg === msg) ? true : undefined);

    fake.stop();
    await eventually('the notice of the outage', () => logged('the event store cannot be reached'));
    expect((await api.get('/me')).status).toBe(503);
    await fake.restart();
    await eventually('its end', async () => {
      await api.get('/me');
      return logged('the event store answers again');
    });

    const ofRequests = /^a request/;
    const others = lines().filter(({ msg, requestId }) => requestId === undefined && !ofRequests.test(msg));
    // A subscription that the pause of the test above ended is resumed, and logged, before the outage.
    others.splice(
      0,
      others.findIndex(({ msg }) => msg === 'the event store cannot be reached'),
    );
    expect(others.map(({ msg }) => msg)).toEqual(['the event store cannot be reached', 'the event store answers again']);
    const [begins, ends] = others;
    const store = { setting: 'EVENT_STORE_URL', address: fake.hosts };
    expect(begins).toMatchObject({ level: 'warn', ...store, err: { message: expect.stringMatching(/\S/) } });
    expect(ends).toMatchObject({ level: 'info', ...store, outageMs: expect.any(Number) });
    expect(server.written()).not.toContain('s3cret');
  });
});

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly requestId?: string;
}

/** Copies the events of the one website, as those of others, until the log holds `count`. */
const copyWebsite = (log: FakeLog, count: number): void => {
  const events = log.events.filter(({ stream }) => /^(?:website|delivery|provisioning|slug)-/.test(stream));
  for (let copy = 0; log.events.length < count; copy += 1) {
    const tag = copy.toString(32).padStart(6, '0');
    const renamed = (text: string): string =>
      text
        .replaceAll(/01[0-9a-z]{24}/g, (id) => `${id.slice(0, -6)}${tag}`)
        .replaceAll('slug-first', `slug-copy-${tag}`)
        .replaceAll('"first"', `"copy-${tag}"`);
    for (const event of events) {
      const data = Buffer.from(renamed(Buffer.from(event.data).toString()));
      log.append(renamed(event.stream), [{ ...event, id: randomUUID(), data }], 'any');
    }
  }
};
