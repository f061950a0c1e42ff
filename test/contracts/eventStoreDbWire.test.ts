import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { createEventStoreDb } from '../../src/events/store/eventStoreDb/eventStore.js';
import { parseAddress } from '../../src/events/store/eventStoreDb/address.js';
import { faultKind } from '../../src/events/store/eventStoreDb/faults.js';
import { encodeEvents } from '../../src/events/store/encodeEvents.js';
import {
  AppendTooLarge,
  CorruptedRetry,
  EARLIEST,
  EventStoreUnavailable,
  InvalidAppend,
  NO_STREAM,
  OutcomeUnknown,
  START,
  WrongExpectedRevision,
  type EventStore,
  type NewEvent,
} from '../../src/events/store/eventStore.js';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import type { Logger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { FakeCluster } from '../support/eventStoreDbFake/fakeEventStoreDb.js';
import { eventStoreDbOpener } from '../support/eventStoreDbHarness.js';
import { asWritten, follow, idsOf, newEvent, newEvents, startFollowing } from '../support/eventStoreEvents.js';
import { startProcess } from '../support/eventStoreSpawn.js';
import { eventually } from '../support/eventually.js';
import { createTcpProxy, type TcpProxy } from '../support/tcpProxy.js';
import { createTestClock, passTimeDuring } from '../support/testClock.js';

/**
 * What the adapter does on the wire, against the fake. The numbers refer to the observations of a
 * real server and its client in docs/adr/0008-eventstoredb-appends.md.
 */

const opened: { close(): Promise<void> }[] = [];
const fakes: FakeCluster[] = [];

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  for (const fake of fakes.splice(0)) fake.stop();
});

const startFake = async (nodes = 1): Promise<FakeCluster> => {
  const fake = await FakeCluster.start(nodes);
  fakes.push(fake);
  return fake;
};

/** The messages logged at `warn`. */
let logged: string[] = [];
const logger: Pick<Logger, 'info' | 'warn'> = {
  info: () => undefined,
  warn: (...line: unknown[]) => {
    logged.push(String(line.at(-1)));
  },
};

const open = (fake: FakeCluster, clock: Clock = systemClock): EventStore => {
  logged = [];
  const store = createEventStoreDb({ url: fake.url, clock, random: systemRandom, logger });
  opened.push(store);
  return store;
};

const fakeAndStore = async (clock?: Clock): Promise<{ fake: FakeCluster; store: EventStore }> => {
  const fake = await startFake();
  return { fake, store: open(fake, clock) };
};

/** Subscribes to the log from now on and returns the growing list of event ids received. */
const collect = async (store: EventStore): Promise<string[]> => {
  const after = await store.lastPosition();
  const received: string[] = [];
  const follower = startFollowing(store, { after });
  void (async () => {
    for (;;) {
      const next = await follower.next();
      if (next.done === true) return;
      received.push(...idsOf(next.value.events));
    }
  })();
  return received;
};

/** Waits until the fake is followed, which the first read of a stream begins. */
const followed = (fake: FakeCluster): Promise<true> =>
  eventually('a subscription', () => (fake.calls.subscriptions.length > 0 ? true : undefined));

const arrived = (received: readonly string[], events: readonly NewEvent[]): Promise<true> =>
  eventually('the arrival of every event', () => (received.length >= events.length ? true : undefined));

describe('1 one client in a process', () => {
  test('another server is refused while one is open, and taken afterwards', async () => {
    const [fake, other] = [await startFake(), await startFake()];
    const store = open(fake);
    expect(() => open(other)).toThrow('connected to another EventStoreDB');
    await store.close();
    const second = open(other);
    expect(await second.append('thing-1', newEvents(1), NO_STREAM)).toMatchObject({ revision: 0n });
  });

  test('two stores on one server share it: closing one leaves the appends of the other alone', async () => {
    const { fake, store } = await fakeAndStore();
    const other = open(fake);
    await other.append('thing-0', newEvents(1), NO_STREAM);
    const appends = Array.from({ length: 20 }, (_, index) => store.append(`thing-${index + 1}`, newEvents(1), NO_STREAM));
    await other.close();
    expect(await Promise.all(appends)).toHaveLength(20);
    expect(await store.append('thing-0', newEvents(1), 0n)).toMatchObject({ revision: 1n });
  });

  test.each([
    'esdb://admin:hidden@host:2113:1?tls=false',
    'esdb://admin:pass@ss?hidden@host:2113',
    'esdb://admin:pass@ss?hidden=1@host:2113?tls=false',
  ])('an invalid address is refused without being quoted: %s', (url) => {
    logged = [];
    const opening = (): unknown => createEventStoreDb({ url, clock: systemClock, random: systemRandom, logger });
    expect(opening).toThrow('is not a connection string');
    expect(opening).not.toThrow('hidden');
    expect(logged).toEqual([]);
  });
});

test('2, 6 an empty append, and data that the client cannot handle, never reach the client', async () => {
  const { fake, store } = await fakeAndStore();
  for (const value of [undefined, 1n]) {
    const bad = { ...newEvent(), data: { value } } as unknown as NewEvent;
    await expect(store.append('thing-1', [bad], 'any')).rejects.toThrow(InvalidAppend);
  }
  await expect(store.append('thing-1', [], 'any')).rejects.toThrow(InvalidAppend);
  expect(fake.calls.append).toBe(0);
});

test('3, 9, 12 the expected revision reaches the server, on one call for all appends, and a refusal carries the actual one', async () => {
  const { fake, store } = await fakeAndStore();
  await store.append('thing-1', newEvents(2), NO_STREAM);
  const refused = store.append('thing-1', newEvents(1), 0n);
  await expect(refused).rejects.toThrow(WrongExpectedRevision);
  await expect(refused).rejects.toMatchObject({ stream: 'thing-1', expected: 0n, actual: 1n });
  await expect(store.append('thing-2', newEvents(1), 5n)).rejects.toMatchObject({ actual: NO_STREAM });
  expect(fake.calls).toMatchObject({ append: 3, appendStreams: 1 });
});

test('what is stored is the text that was encoded, byte for byte, as JSON', async () => {
  const { fake, store } = await fakeAndStore();
  const event = newEvent('Happened', { zero: -0, text: '\ud800 \u0000', big: 1e21, ['__proto__']: 1 });
  await store.append('thing-1', [event], NO_STREAM);
  const [encoded] = encodeEvents('thing-1', [event]);
  const [stored] = fake.log.stream('thing-1');
  expect(Buffer.from(stored?.data ?? []).toString()).toBe(encoded?.data);
  expect(Buffer.from(stored?.metadata ?? []).toString()).toContain(`"metadata":${encoded?.metadata ?? ''}}`);
  expect(stored?.contentType).toBe('application/json');
});

test.each([
  ['esdb://a:1', 'esdb://a:1?keepAliveInterval=10000&keepAliveTimeout=5000&gossipTimeout=2'],
  [
    'kurrentdb+discover://a/?tls=false',
    'esdb+discover://a?tls=false&keepAliveInterval=10000&keepAliveTimeout=5000&gossipTimeout=2',
  ],
  [
    'esdb://a,b?KeepAliveInterval=20000&keepalivetimeout=1&gossipTimeout=9',
    'esdb://a,b?KeepAliveInterval=20000&keepalivetimeout=1&gossipTimeout=9',
  ],
])('4 both keep-alives are set unless the address does: %s', (given, used) => {
  expect(parseAddress(given)).toMatchObject({ text: used, warnings: [] });
});

test('options that make the library print the whole address are left out, and named in a warning', () => {
  const printed = jest.spyOn(console, 'warn');
  const base = 'esdb://admin:what?pass%40word@127.0.0.1:1/?tls=true&tlsVerifyCert=false&Nonsense=1&keep_alive_interval=11000';
  const { text, nodes, warnings } = parseAddress(base);
  expect(text).toBe(
    'esdb://admin:what?pass%40word@127.0.0.1:1?tls=true&keep_alive_interval=11000&keepAliveTimeout=5000&gossipTimeout=2',
  );
  expect([nodes, warnings]).toEqual([
    '127.0.0.1:1',
    [
      { option: 'tlsVerifyCert', message: expect.stringContaining('name the file of its authority as tlsCaFile') },
      { option: 'Nonsense', message: expect.stringContaining('is not known') },
    ],
  ]);
  logged = [];
  opened.push(createEventStoreDb({ url: base, clock: systemClock, random: systemRandom, logger }));
  expect(logged).toEqual(warnings.map(({ message }) => message));
  expect(printed).not.toHaveBeenCalled();
  printed.mockRestore();
});

test('4 a server that accepts calls and answers none: reads fail within 2 s, and work again afterwards', async () => {
  const clock = createTestClock();
  const { fake, store } = await fakeAndStore(clock);
  await store.append('thing-1', newEvents(1), NO_STREAM);
  fake.faults.silent = true;
  const begun = clock.now();
  const reads: Promise<unknown>[] = [store.readStream('thing-1'), store.readAll({ after: START }), store.lastPosition()];
  for (const read of reads) await expect(passTimeDuring(clock, read)).rejects.toThrow(EventStoreUnavailable);
  expect(clock.now() - begun).toBeLessThan(2_000);
  fake.faults.silent = false;
  expect((await store.readStream('thing-1')).head).toBe(0n);
});

test('5 a dropped subscription resumes by itself, without gap or duplicate, and logs it once', async () => {
  const { fake, store } = await fakeAndStore();
  const received = await collect(store);
  const events: NewEvent[] = [];
  for (let round = 0; round < 4; round += 1) {
    const added = newEvents(5);
    events.push(...added);
    const appending = store.append('thing-1', added, 'any');
    if (round % 2 === 0) fake.dropSubscriptions();
    await appending;
    await arrived(received, events);
  }
  expect(received).toEqual(idsOf(events));
  fake.dropSubscriptions();
  const last = newEvents(1);
  await store.append('thing-1', last, 'any');
  await arrived(received, [...events, ...last]);
  expect(received).toEqual(idsOf([...events, ...last]));
  expect(logged.length).toBeGreaterThanOrEqual(1);
  expect(logged.length).toBeLessThanOrEqual(3);
});

test('5 a subscription that ends without a fault is resumed after a pause', async () => {
  const clock = createTestClock();
  const { fake, store } = await fakeAndStore(clock);
  const received = await collect(store);
  const events = newEvents(3);
  for (const [index, event] of events.entries()) {
    await store.append('thing-1', [event], BigInt(index) - 1n);
    await arrived(received, events.slice(0, index + 1));
    const before = fake.calls.subscriptions.length;
    fake.endSubscriptions();
    await passTimeDuring(
      clock,
      eventually('another', () => fake.calls.subscriptions.length > before || undefined),
    );
  }
  expect(received).toEqual(idsOf(events));
  expect(logged).toContain('the subscription to the event log failed; resuming it');
});

test('7 too large: refused here, or by the server, with nothing written', async () => {
  const { fake, store } = await fakeAndStore();
  await expect(store.append('thing-1', [newEvent('Big', { text: 'x'.repeat(1_000_000) })], 'any')).rejects.toThrow(
    AppendTooLarge,
  );
  expect(fake.calls.append).toBe(0);
  const many = Array.from({ length: 900 }, () => newEvent('Some', { text: 'x'.repeat(700) }));
  fake.faults.maxAppendSize = 500_000;
  await expect(store.append('thing-1', many, 'any')).rejects.toThrow(AppendTooLarge);
  expect(fake.calls.append).toBe(1);
  expect((await store.readStream('thing-1')).head).toBe(NO_STREAM);
});

describe('8 faults in each of their forms', () => {
  const coded = (code: number, details: string, exception?: string): Error =>
    Object.assign(new Error(`${code} ${details}`), {
      code,
      details,
      metadata: { get: (key: string) => (key === 'exception' && exception !== undefined ? [exception] : []) },
    });

  test.each<[string, Error, ReturnType<typeof faultKind>]>([
    ['a connection that broke off', coded(14, 'Connection dropped'), 'outcome unknown'],
    ['a plain error with the same words', new Error('14 UNAVAILABLE: Connection dropped'), 'outcome unknown'],
    ['no connection at all', coded(14, 'No connection established. Last error: ECONNREFUSED'), 'refused'],
    ['a deadline of the server', coded(4, 'Deadline Exceeded'), 'outcome unknown'],
    ['a commit that took the server too long', coded(10, 'Operation timed out: Commit phase timeout.'), 'outcome unknown'],
    ['a server that is starting', coded(14, 'Server Is Not Ready'), 'refused'],
    ['a server that cannot look passwords up yet', coded(14, 'Server not ready'), 'refused'],
    ['a server without a leader', coded(2, 'No leader info available in response'), 'refused'],
    ['another leader', coded(5, 'Leader info available', 'not-leader'), 'refused'],
    ['no right', coded(7, 'Access Denied', 'access-denied'), 'denied'],
    ['a wrong password', coded(16, ''), 'denied'],
    ['two answers to one call', coded(12, 'Too many responses received'), 'outcome unknown'],
    ['too large', coded(3, 'Maximum Append Size of 1048576 Exceeded.', 'maximum-append-size-exceeded'), 'too large'],
  ])('%s', (_, fault, kind) => {
    expect(faultKind(fault)).toBe(kind);
  });

  test('an append that the server answers with a deadline is retried with the same ids, and written once', async () => {
    const { fake, store } = await fakeAndStore();
    const events = newEvents(2);
    fake.faults.answers = 'timed out';
    const appending = store.append('thing-1', events, NO_STREAM);
    await eventually('the first attempt', () => (fake.calls.append > 0 ? true : undefined));
    fake.faults.answers = 'given';
    expect(await appending).toMatchObject({ revision: 1n });
    expect(idsOf((await store.readStream('thing-1')).events)).toEqual(idsOf(events));
  });

  test('without an expected revision it is not retried: its outcome is unknown', async () => {
    const { fake, store } = await fakeAndStore();
    fake.faults.answers = 'timed out';
    await expect(store.append('thing-1', newEvents(1), 'any')).rejects.toThrow(OutcomeUnknown);
    expect(fake.calls.append).toBe(1);
  });

  test('a missing right is reported at once, to a subscription too', async () => {
    const { fake, store } = await fakeAndStore();
    fake.faults.refuseWith = { code: 7, details: 'Access Denied' };
    await expect(store.append('thing-1', newEvents(1), NO_STREAM)).rejects.toThrow(EventStoreUnavailable);
    await expect(store.readStream('thing-1')).rejects.toThrow('Access Denied');
    await expect(follow(store, { after: START }, () => true)).rejects.toThrow('Access Denied');
    expect(fake.calls.append).toBe(0);
  });

  test.each(['at the start', 'later'])(
    'once the right is there, subscriptions go on, of a quiet log too: it was missing %s',
    async (when) => {
      const { fake, store } = await fakeAndStore();
      const deny = (): void => {
        fake.faults.refuseWith = { code: 7, details: 'Access Denied' };
      };
      if (when === 'at the start') deny();
      // From the first read on, the log is followed for good.
      await store.readStream('thing-1').catch(unlessUnavailable);
      let after = START;
      if (when === 'later') {
        await followed(fake);
        after = await store.lastPosition();
        deny();
        fake.dropSubscriptions();
      }
      await expect(follow(store, { after }, () => false)).rejects.toThrow('Access Denied');
      fake.faults.refuseWith = null;
      after = await store.lastPosition();

      const { next } = await eventually('a subscription that waits', async () => {
        const received = startFollowing(store, { after }).next();
        const ended = received.then(
          () => true,
          () => true,
        );
        const isEnded = await Promise.race([ended, store.lastPosition().then(() => false)]);
        return isEnded ? undefined : { next: received };
      });
      const events = newEvents(1);
      await store.append('thing-1', events, NO_STREAM);
      expect(await next).toMatchObject({ value: { events: idsOf(events).map((id) => ({ id })) } });
    },
  );
});

test('10 positions and revisions are exact beyond what a number holds', async () => {
  const { store } = await fakeAndStore();
  const { position } = await store.append('thing-1', newEvents(3), NO_STREAM);
  expect(position).toBeGreaterThan(2n ** 53n);
  const { events } = await store.readAll({ after: START });
  expect(events.map((event) => event.revision)).toEqual([0n, 1n, 2n]);
  expect(events.at(-1)?.position).toBe(position);
});

test('11 a node that answers but has no leader is not ready; appends wait for one', async () => {
  const { fake, store } = await fakeAndStore();
  const { leader } = fake;
  fake.leader = null;
  await expect(store.lastPosition()).rejects.toThrow(EventStoreUnavailable);
  const appending = store.append('thing-1', newEvents(1), NO_STREAM);
  const before = fake.calls.leaderProbes;
  await eventually('a refusal', () => (fake.calls.leaderProbes > before + 1 ? true : undefined));
  fake.leader = leader;
  expect(await appending).toMatchObject({ revision: 0n });
  expect(await store.lastPosition()).toBeGreaterThan(START);
});

test('11 a node that is not the leader yet has an index that lags: no read returns an older state', async () => {
  const connections = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
  // Those that earlier tests of this process have left.
  const others = connections();
  const { fake, store } = await fakeAndStore();
  await store.append('thing-1', newEvents(1), NO_STREAM);
  await store.append('thing-1', newEvents(1), 0n);
  const [node] = fake.nodes;
  if (node === undefined) throw new Error('no node');
  // The connection is lost between calls: once gRPC has noticed, it makes the next one by itself.
  fake.stop();
  node.inaugurating = true;
  await eventually('the loss', () => connections() <= others || undefined);
  await fake.restart();
  const reading = eventually('an answer', () => store.readStream('thing-1').catch(unlessUnavailable));
  const before = fake.calls.leaderProbes;
  await eventually('questions', () => (fake.calls.leaderProbes > before + 2 ? true : undefined));
  node.inaugurating = false;
  expect((await reading).head).toBe(1n);
});

describe('13 answers that come late, twice or never', () => {
  test('never: the outcome is unknown in time, also when nothing was written, and nothing stays pending', async () => {
    const clock = createTestClock();
    const { fake, store } = await fakeAndStore(clock);
    await store.append('thing-1', newEvents(1), NO_STREAM);
    fake.faults.silent = true;
    const begun = clock.now();
    await expect(passTimeDuring(clock, store.append('thing-1', newEvents(1), 0n))).rejects.toThrow(OutcomeUnknown);
    expect(clock.now() - begun).toBeLessThan(4_000);
    fake.faults.silent = false;
    await store.close();
    expect(clock.pending()).toBe(0);
  });

  test('never, and then the server stays down past the deadline: unknown, and the process goes on', async () => {
    const fake = await startFake();
    const store = open(fake);
    await store.append('thing-1', newEvents(1), NO_STREAM);
    await store.close();
    fake.faults.answers = 'lost';
    // In another process, because an endless retry would block the timers of this one.
    const writer = await startProcess(eventStoreDbOpener, fake.url, { kind: 'race', stream: 'thing-1', count: 1 });
    try {
      writer.go();
      await eventually('the append', () => (fake.calls.append > 1 ? true : undefined));
      fake.stop();
      expect(await writer.answer).toEqual({ failed: 'OutcomeUnknown' });
      await writer.ended;
    } finally {
      await writer.kill();
    }
  });

  test('late: the repetition has the first effect, and the late answer none', async () => {
    const clock = createTestClock();
    const { fake, store } = await fakeAndStore(clock);
    const events = newEvents(2);
    fake.faults.answers = 'late';
    await expect(passTimeDuring(clock, store.append('thing-1', events, NO_STREAM))).rejects.toThrow(OutcomeUnknown);
    fake.faults.answers = 'given';
    fake.answerLate();
    expect(await store.append('thing-1', events, NO_STREAM)).toMatchObject({ revision: 1n });
    expect((await store.readStream('thing-1')).head).toBe(1n);
  });

  test('twice: the second answer is ignored, by appends before and after it', async () => {
    const { fake, store } = await fakeAndStore();
    fake.faults.answers = 'twice';
    const appending = Array.from({ length: 20 }, (_, index) => store.append(`thing-${String(index)}`, newEvents(2), NO_STREAM));
    for (const result of await Promise.all(appending)) expect(result).toMatchObject({ revision: 1n });
    expect(await store.append('thing-1', newEvents(1), 1n)).toMatchObject({ revision: 2n });
    expect(fake.calls).toMatchObject({ append: 21, appendStreams: 1 });
  });

  test('twice, where the append has a call of its own: gRPC reports a fault, and the outcome is unknown', async () => {
    const { fake, store } = await fakeAndStore();
    fake.faults.answers = 'twice';
    await expect(store.append('thing-1', newEvents(2), 'any')).rejects.toThrow(OutcomeUnknown);
    fake.faults.answers = 'given';
    expect((await store.readStream('thing-1')).head).toBe(1n);
  });
});

describe('14 repetitions', () => {
  test('are recognised by another process, after a restart of the server that forgets recent ids', async () => {
    const { fake, store } = await fakeAndStore();
    const events = newEvents(3);
    const first = await store.append('thing-1', events, NO_STREAM);
    await store.append('thing-1', newEvents(1), 2n);
    fake.stop();
    await fake.restart();
    const elsewhere = open(fake);
    const again = eventually('an answer', () => elsewhere.append('thing-1', events, NO_STREAM).catch(unlessUnavailable));
    expect(await again).toEqual(first);
    await expect(elsewhere.append('thing-1', [...events.slice(0, 2), newEvent()], NO_STREAM)).rejects.toThrow(CorruptedRetry);
    expect((await store.readStream('thing-1')).head).toBe(3n);
  });

  test('of ids before the head, where the server does not compare, are found by a process that never read the stream', async () => {
    const { fake, store } = await fakeAndStore();
    const events = newEvents(3);
    await store.append('thing-1', events, NO_STREAM);
    await store.append('thing-1', newEvents(1), 2n);
    const elsewhere = open(fake);
    await expect(elsewhere.append('thing-1', events, 3n)).rejects.toThrow(CorruptedRetry);
    expect(await elsewhere.append('thing-1', newEvents(1), 3n)).toMatchObject({ revision: 4n });
  });

  test('need no extra call in a stream that was read', async () => {
    const { fake, store } = await fakeAndStore();
    await store.append('thing-1', newEvents(3), NO_STREAM);
    const elsewhere = open(fake);
    const { head } = await elsewhere.readStream('thing-1');
    await followed(fake);
    const before = fake.calls.read;
    const { revision } = await elsewhere.append('thing-1', newEvents(1), head);
    await elsewhere.append('thing-1', newEvents(1), revision);
    expect(fake.calls.read).toBe(before);
  });
});

test('a read of new events takes one call, also when there are none; a server that does not send the head takes another', async () => {
  const { fake, store } = await fakeAndStore();
  await store.append('thing-1', newEvents(3), NO_STREAM);
  await store.append('thing-2', newEvents(3), NO_STREAM);
  await store.readStream('other');
  await followed(fake);
  const before = fake.calls.read;
  expect(await store.readStream('thing-1', { from: 3n })).toEqual({ events: [], head: 2n });
  expect(await store.readStream('thing-1', { from: 1n, max: 1 })).toMatchObject({ events: [{ revision: 1n }], head: 2n });
  expect(fake.calls.read).toBe(before + 2);
  fake.faults.sendsHead = false;
  expect(await store.readStream('thing-2', { from: 3n })).toEqual({ events: [], head: 2n });
  expect(fake.calls.read).toBe(before + 4);
});

describe('streams in use', () => {
  const names = Array.from({ length: 20 }, (_, index) => `thing-${String(index)}`);
  const readAtEnd = (store: EventStore, stream: string, since?: number) =>
    store.readStream(stream, { from: 1n, ...(since !== undefined && { since }) });
  /** Streams of one event each, which were read. */
  const inUse = async () => {
    const { fake, store } = await fakeAndStore();
    await store.readStream('other');
    await followed(fake);
    await Promise.all(names.map((name) => store.append(name, newEvents(1), NO_STREAM)));
    await Promise.all(names.map((name) => readAtEnd(store, name)));
    return { fake, store, before: fake.calls.read };
  };

  test('are read with one question for the end of the log, however many wait for its answer', async () => {
    const { fake, store, before } = await inUse();
    const all = () => Promise.all(names.map((name) => readAtEnd(store, name)));
    const none = { events: [], head: 0n };
    expect(await all()).toEqual(names.map(() => none));
    expect(fake.calls.read - before).toBe(1);
    await Promise.all([all(), all(), all()]);
    expect(fake.calls.read - before).toBe(2);
  });

  test('share the next question too when they go on with the answer to one', async () => {
    const { fake, store, before } = await inUse();
    const inARow = async () => {
      for (const name of names.slice(0, 3)) await readAtEnd(store, name);
    };
    await Promise.all(Array.from({ length: 50 }, inARow));
    expect(fake.calls.read - before).toBe(3);
  });

  test('share one question when they are read one after the other since the same moment', async () => {
    const { fake, store, before } = await inUse();
    const request = async () => {
      const since = store.moment();
      for (const name of names) await readAtEnd(store, name, since);
    };
    await request();
    expect(fake.calls.read - before).toBe(1);
    await Promise.all(Array.from({ length: 50 }, request));
    expect(fake.calls.read - before).toBe(2);
  });

  test('have what another process has appended before each moment', async () => {
    const { store, fake } = await inUse();
    const elsewhere = open(fake);
    for (let revision = 0n; revision < 40n; revision += 1n) {
      await elsewhere.append('thing-1', newEvents(1), revision);
      const since = store.moment();
      await readAtEnd(store, 'thing-2', since);
      expect((await readAtEnd(store, 'thing-1', since)).head).toBe(revision + 1n);
    }
  });

  test('have what another process has appended before each read', async () => {
    const { fake, store, before } = await inUse();
    const elsewhere = open(fake);
    for (let revision = 0n; revision < 40n; revision += 1n) {
      await elsewhere.append('thing-1', newEvents(1), revision);
      expect((await readAtEnd(store, 'thing-1')).head).toBe(revision + 1n);
    }
    // The questions, and what the other process reads for its first append.
    expect(fake.calls.read - before).toBeLessThanOrEqual(44);
  });

  test('are read from the server while the subscription is late, and the next reads do not wait for it', async () => {
    const { fake, store } = await inUse();
    const elsewhere = open(fake);
    fake.faults.mute = true;
    for (let revision = 0n; revision < 10n; revision += 1n) {
      await elsewhere.append('thing-1', newEvents(1), revision);
      const before = fake.calls.read;
      expect((await readAtEnd(store, 'thing-1')).head).toBe(revision + 1n);
      // The question, until the subscription is known to be late, and the stream.
      expect(fake.calls.read - before).toBe(revision === 0n ? 2 : 1);
    }
  });

  test('are given as known without any call, with what this process itself has appended', async () => {
    const { fake, store, before } = await inUse();
    for (let revision = 0n; revision < 40n; revision += 1n) {
      const [event] = newEvents(1);
      await store.append('thing-1', [event as NewEvent], revision);
      expect(idsOf((await store.readStream('thing-1', { from: revision + 1n, since: EARLIEST })).events)).toEqual([event?.id]);
    }
    expect(fake.calls.read).toBe(before);
  });
});

test('15 a filter that matches nothing advances by checkpoints, and resumes there', async () => {
  const { fake, store } = await fakeAndStore();
  for (let index = 0; index < 8; index += 1) await store.append(`hay-${index}`, newEvents(500), NO_STREAM);
  const end = await store.lastPosition();
  const options = { after: START, filter: { types: ['Needle'] } };
  const { slices, events } = await follow(store, options, ({ position }) => position >= end);
  expect(events).toEqual([]);
  expect(slices.length).toBeGreaterThanOrEqual(3);
  const halfWay = slices[1]?.position ?? START;
  expect(halfWay).toBeGreaterThan(START);
  await follow(store, { ...options, after: halfWay }, ({ position }) => position >= end);
  expect(fake.calls.subscriptions.findLast(({ filter }) => filter !== null)?.after).toBe(halfWay);
});

test('the server filters history by types or prefixes, with special characters escaped', async () => {
  const { fake, store } = await fakeAndStore();
  await store.append('thing-1', [newEvent('Opened'), newEvent('Opened.2'), newEvent('Closed')], NO_STREAM);
  await store.append('other-1', [newEvent('Opened')], NO_STREAM);
  await store.append('thing.1', [newEvent('Opened')], NO_STREAM);
  const read = async (filter: Parameters<EventStore['readAll']>[0]['filter']): Promise<[string[], unknown]> => {
    const { events } = await store.readAll({ after: START, ...(filter !== undefined && { filter }) });
    return [events.map(({ stream, type }) => `${stream} ${type}`), fake.calls.subscriptions.at(-1)?.filter];
  };
  expect(await read({ types: ['Opened'] })).toEqual([
    ['thing-1 Opened', 'other-1 Opened', 'thing.1 Opened'],
    expect.objectContaining({ eventType: { regex: '^(?:Opened)$', prefixList: [] } }),
  ]);
  expect(await read({ streamPrefixes: ['thing.'] })).toEqual([
    ['thing.1 Opened'],
    expect.objectContaining({ streamIdentifier: { regex: String.raw`^(?:thing\.)`, prefixList: [] } }),
  ]);
  expect((await read({ streamPrefixes: ['thing-1'], types: ['Closed'] }))[0]).toEqual(['thing-1 Closed']);
  expect((await read({ streamPrefixes: ['thing-'], types: ['Closed'] }))[1]).toMatchObject({
    eventType: { regex: '^(?:Closed)$' },
  });
  expect((await read({ types: [] }))[0]).toEqual([]);
  expect((await read({ streamPrefixes: [] }))[0]).toEqual([]);
});

test('16 a subscription that receives nothing for 30 s is resumed, and nothing is lost', async () => {
  const clock = createTestClock();
  const { fake, store } = await fakeAndStore(clock);
  const received = await collect(store);
  const [first, missed] = [newEvents(1), newEvents(2)];
  await store.append('thing-1', first, NO_STREAM);
  await arrived(received, first);
  fake.faults.mute = true;
  await store.append('thing-1', missed, 0n);
  await clock.advance(29_000);
  const before = fake.calls.subscriptions.length;
  expect(received).toEqual(idsOf(first));
  fake.faults.mute = false;
  await passTimeDuring(clock, arrived(received, [...first, ...missed]));
  expect(received).toEqual(idsOf([...first, ...missed]));
  expect(fake.calls.subscriptions.length).toBeGreaterThan(before);
  expect(logged).toEqual([]);
});

test('17 events of the server and of other programs are skipped', async () => {
  const { fake, store } = await fakeAndStore();
  const after = await store.lastPosition();
  const { position } = await store.append('thing-1', newEvents(1), NO_STREAM);
  fake.log.writeSystemEvent();
  const foreign = { id: crypto.randomUUID(), type: 'Theirs', contentType: 'application/octet-stream' };
  fake.log.append('their-1', [{ ...foreign, data: Buffer.from([255, 0]), metadata: new Uint8Array() }], 'any');
  const end = await store.lastPosition();
  expect(end).toBeGreaterThan(position);
  const { events } = await follow(store, { after }, (seen) => seen.position >= end);
  expect(events.map(({ stream }) => stream)).toEqual(['thing-1']);
  expect(await store.readAll({ after })).toMatchObject({ events, position: end });
});

test('the event that a new leader writes for itself hides no event after it', async () => {
  const { fake, store } = await fakeAndStore();
  fake.log.writeEpoch();
  const received = await collect(store);
  const [first, second] = [newEvents(1), newEvents(2)];
  await store.append('thing-1', first, NO_STREAM);
  await arrived(received, first);
  const after = await store.lastPosition();
  fake.log.writeEpoch();
  expect(await store.lastPosition()).toBe(after);
  fake.dropSubscriptions();
  await store.append('thing-1', second, 0n);
  await arrived(received, [...first, ...second]);
  expect(received).toEqual(idsOf([...first, ...second]));
  expect(idsOf((await store.readAll({ after, filter: { types: ['Happened'] } })).events)).toEqual(idsOf(second));
});

test('a read after a position whose event was scavenged includes the next event, which the server would skip', async () => {
  const { fake, store } = await fakeAndStore();
  await store.append('thing-1', newEvents(1), NO_STREAM);
  fake.log.writeSystemEvent();
  const after = await store.lastPosition();
  const events = newEvents(3);
  await store.append('thing-1', events, 0n);
  fake.log.scavenge();
  expect(idsOf((await store.readAll({ after })).events)).toEqual(idsOf(events));
  const follower = await follow(store, { after, filter: { types: ['Happened'] } }, (seen) => seen.events.length === 3);
  expect(idsOf(follower.events)).toEqual(idsOf(events));
  expect((await store.readAll({ after, filter: { types: ['Never'] } })).events).toEqual([]);
});

test('a restart: appends wait or are refused, subscriptions resume, no acknowledged event is lost or written twice', async () => {
  const { fake, store } = await fakeAndStore();
  const received = await collect(store);
  const acknowledged: NewEvent[] = [];
  const write = async (): Promise<void> => {
    const events = newEvents(2);
    const expected = BigInt(acknowledged.length) - 1n;
    await eventually('an append', () => store.append('thing-1', events, expected).catch(unlessUnavailable));
    acknowledged.push(...events);
  };
  for (let round = 0; round < 3; round += 1) {
    await write();
    fake.stop();
    const writing = write();
    await fake.restart();
    await writing;
  }
  await arrived(received, acknowledged);
  expect(received).toEqual(idsOf(acknowledged));
  expect((await store.readStream('thing-1')).events.map(asWritten)).toEqual(acknowledged);
});

/**
 * Timers run five times as fast, so that a test does not wait long for calls that cannot be
 * answered.
 */
const hurriedClock: Clock = {
  now: () => systemClock.now(),
  schedule: (delayMs, task, options) => systemClock.schedule(delayMs / 5, task, options),
};

describe('a server that is slow is not away', () => {
  test('its first answers to many calls at once may take longer than later ones', async () => {
    const fake = await startFake();
    const store = open(fake, hurriedClock);
    await store.append('thing-1', newEvents(1), NO_STREAM);
    // The read deadline of 1.5 s is 0.3 s here.
    fake.faults.cold = { calls: 48, ms: 500 };
    const reads = Array.from({ length: 64 }, (_, n) => store.readStream(`thing-${String(n)}`));
    expect((await Promise.all(reads)).filter(({ head }) => head === 0n)).toHaveLength(1);
    expect(fake.calls.leaderProbes).toBe(1);
  });

  test('a read that stalls while others are answered goes on, and its connection is not given up', async () => {
    const fake = await startFake();
    const store = open(fake, hurriedClock);
    await store.append('thing-1', newEvents(5), NO_STREAM);
    const before = fake.calls.leaderProbes;
    fake.faults.cold = { calls: 1, ms: 500 };
    const calls = Array.from({ length: 10 }, (_, n) => store.readStream(`other-${String(n)}`));
    const all = Promise.all(calls);
    const ended = all.then(() => true);
    const another = (): Promise<boolean> => store.readStream('thing-1').then(() => false);
    while (!(await Promise.race([ended, another()])));
    await all;
    expect(fake.calls.leaderProbes).toBe(before);
  });

  test('a page that does not come in time is asked for in smaller ones, forwards and backwards', async () => {
    const fake = await startFake();
    const store = open(fake, hurriedClock);
    const events = newEvents(200);
    await store.append('thing-1', events, NO_STREAM);
    fake.faults.pauseMs = 3;
    const forwards = await store.readStream('thing-1');
    expect([forwards.head, idsOf(forwards.events)]).toEqual([199n, idsOf(events)]);
    const backwards = await store.readStream('thing-1', { direction: 'backwards', max: 150 });
    expect([backwards.head, idsOf(backwards.events)]).toEqual([199n, idsOf(events).toReversed().slice(0, 150)]);
  });
});

test('the end of the log is asked for once for all who ask at the same time', async () => {
  const { fake, store } = await fakeAndStore();
  const appended = await store.append('thing-1', newEvents(1), NO_STREAM);
  const before = fake.calls.read;
  const found = await Promise.all(Array.from({ length: 20 }, () => store.lastPosition()));
  expect(new Set(found)).toEqual(new Set([appended.position]));
  expect(fake.calls.read - before).toBe(2);
});

describe('a cluster', () => {
  test('the leader is found, also after it has moved', async () => {
    const fake = await startFake(3);
    const store = open(fake);
    const received = await collect(store);
    const events: NewEvent[] = [];
    for (const leader of [1, 2, 0, 1]) {
      fake.leader = fake.nodes[leader] ?? null;
      const [event] = newEvents(1);
      if (event === undefined) throw new Error('no event');
      await store.append('thing-1', [event], BigInt(events.length) - 1n);
      events.push(event);
    }
    await arrived(received, events);
    expect(received).toEqual(idsOf(events));
  });

  test('the leader moves while appends on one call wait for answers: each is repeated at the next one, and written once', async () => {
    const fake = await startFake(3);
    const store = open(fake);
    await store.append('thing-0', newEvents(1), NO_STREAM);
    fake.faults.answers = 'lost';
    const waiting = ['thing-1', 'thing-2'].map((stream) => ({ stream, events: newEvents(2) }));
    const appending = waiting.map(({ stream, events }) => store.append(stream, events, NO_STREAM));
    await eventually('the appends', () => fake.calls.written.length > 2 || undefined);
    fake.faults.answers = 'given';
    fake.leader = fake.nodes[1] ?? null;
    // The former leader ends the call for this one alone.
    await store.append('thing-0', newEvents(1), 0n);
    for (const result of await Promise.all(appending)) expect(result).toMatchObject({ revision: 1n });
    for (const { stream, events } of waiting) expect(idsOf((await store.readStream(stream)).events)).toEqual(idsOf(events));
    expect(fake.calls).toMatchObject({ append: 7, appendStreams: 2 });
  });

  test('a leader that dies: another one takes over, and everything goes on', async () => {
    const fake = await startFake(3);
    const store = open(fake);
    const received = await collect(store);
    const [before, after] = [newEvents(1), newEvents(1)];
    await store.append('thing-1', before, NO_STREAM);
    fake.leader?.stop();
    fake.leader = fake.nodes[2] ?? null;
    await eventually('an append', () => store.append('thing-1', after, 0n).catch(unlessUnavailable));
    await arrived(received, [...before, ...after]);
    expect(received).toEqual(idsOf([...before, ...after]));
  });

  test('the leader moves repeatedly under writers, readers and a subscriber: no event is lost or doubled, and no read is stale', async () => {
    const fake = await startFake(3);
    const store = open(fake);
    const received = await collect(store);
    const written = new Map<string, NewEvent[]>();
    let moving = true;
    const write = async (stream: string): Promise<void> => {
      const events: NewEvent[] = [];
      written.set(stream, events);
      while (moving) {
        const added = newEvents(1);
        const expected = BigInt(events.length) - 1n;
        await eventually('an append', () => store.append(stream, added, expected).catch(unlessUnavailable));
        events.push(...added);
        const { head } = await eventually('a read', () => store.readStream(stream).catch(unlessUnavailable));
        expect(head).toBe(BigInt(events.length) - 1n);
      }
    };
    const writers = Array.from({ length: 8 }, (_, index) => write(`thing-${String(index)}`));
    for (let round = 0; round < 8; round += 1) {
      const before = fake.calls.append;
      fake.leader = fake.nodes[round % 3] ?? null;
      if (round % 4 === 3) fake.dropSubscriptions();
      await eventually('appends at the new leader', () => fake.calls.append > before + 8 || undefined);
    }
    moving = false;
    await Promise.all(writers);
    const all = [...written.values()].flat();
    await arrived(received, all);
    expect(received.toSorted()).toEqual(idsOf(all).toSorted());
    for (const [stream, events] of written) expect(idsOf((await store.readStream(stream)).events)).toEqual(idsOf(events));
  });

  /**
   * A cluster whose node 0 can be made to hang, or to seem switched off, without closing its
   * connections.
   */
  const withProxy = async (run: (fake: FakeCluster, proxy: TcpProxy) => Promise<void>): Promise<void> => {
    const fake = await startFake(3);
    const [node] = fake.nodes;
    if (node === undefined) throw new Error('no node');
    const proxy = await createTcpProxy({ host: '127.0.0.1', port: node.port });
    node.proxyPort = Number(proxy.address.split(':')[1]);
    try {
      await run(fake, proxy);
    } finally {
      await proxy.close();
    }
  };

  test('calls and subscriptions leave a leader that hangs for the one that the others elect', async () => {
    await withProxy(async (fake, proxy) => {
      const store = open(fake, hurriedClock);
      const received = await collect(store);
      const [before, after] = [newEvents(1), newEvents(1)];
      await store.append('thing-1', before, NO_STREAM);
      await arrived(received, before);
      proxy.stall();
      // At first the other nodes still name it as the leader.
      await expect(store.readStream('thing-1')).rejects.toThrow(EventStoreUnavailable);
      await expect(store.readStream('thing-1')).rejects.toThrow(EventStoreUnavailable);
      fake.leader = fake.nodes[1] ?? null;
      await eventually('an append', () => store.append('thing-1', after, 0n).catch(unlessUnavailable), 5_000);
      await eventually('its arrival', () => received.length === 2 || undefined, 5_000);
      expect(received).toEqual(idsOf([...before, ...after]));
    });
  });

  test('a node that is named as the leader but cannot be reached is given up, and the next leader is found', async () => {
    await withProxy(async (fake, proxy) => {
      const [off, first, second] = fake.nodes;
      fake.leader = first ?? null;
      const store = open(fake, hurriedClock);
      await store.append('thing-1', newEvents(1), NO_STREAM);
      proxy.stall();
      fake.leader = off ?? null;
      await expect(store.append('thing-1', newEvents(1), 0n)).rejects.toThrow(EventStoreUnavailable);
      fake.leader = second ?? null;
      await eventually('an append', () => store.append('thing-1', newEvents(1), 0n).catch(unlessUnavailable), 5_000);
      expect((await store.readStream('thing-1')).head).toBe(1n);
    });
  });

  test('the leader is found, although later, when the first node asked does not answer', async () => {
    const fake = await startFake();
    const port = fake.leader?.port ?? 0;
    const frozen = await createTcpProxy({ host: '127.0.0.1', port });
    frozen.stall();
    // The library shuffles the nodes by this.
    const chance = jest.spyOn(Math, 'random').mockReturnValue(0.5);
    try {
      const url = `esdb://${frozen.address},127.0.0.1:${String(port)}?tls=false&gossipTimeout=2`;
      const store = createEventStoreDb({ url, clock: systemClock, random: systemRandom });
      opened.push(store);
      // The search takes longer than one call waits: its result serves the calls that come later.
      await eventually('an append', () => store.append('thing-1', newEvents(1), NO_STREAM).catch(unlessUnavailable));
    } finally {
      chance.mockRestore();
      await frozen.close();
    }
  });

  test('a connection that breaks during a search without result is logged, and no unhandled rejection ends the process', async () => {
    const fake = await startFake(2);
    const store = open(fake, hurriedClock);
    await store.append('thing-1', newEvents(1), NO_STREAM);
    fake.faults.silent = true;
    const appending = store.append('thing-1', newEvents(1), 0n).catch(unlessUnavailable);
    await eventually('the append', () => (fake.calls.append === 2 ? true : undefined));
    fake.faults.silent = false;
    fake.faults.refuseWith = { code: 14, details: 'Server Is Not Ready' };
    const search = jest.spyOn(fake, 'gossip').mockReturnValue(new gossip.ClusterInfo());
    const reading = store.lastPosition().catch(unlessUnavailable);
    await eventually('the search', () => (search.mock.calls.length > 0 ? true : undefined));
    fake.stop();
    await eventually('its end', () => (logged.length > 0 ? true : undefined));
    expect(logged).toEqual(['no node of the event store can be found; are the nodes up?']);
    expect([await reading, await appending]).toEqual([undefined, undefined]);
  });

  test('all nodes go down under many writers: the appends fail in time, and the process ends by itself', async () => {
    const fake = await startFake(3);
    const writer = await startProcess(eventStoreDbOpener, fake.url, { kind: 'writeForever', category: 'thing-' });
    let appends = 0;
    writer.onLine(() => (appends += 1));
    try {
      writer.go();
      await eventually('some appends', () => (appends > 20 ? true : undefined));
      fake.stop();
      const { failed } = (await writer.answer) as { failed: string };
      expect(['EventStoreUnavailable', 'OutcomeUnknown']).toContain(failed);
      await writer.ended;
    } finally {
      await writer.kill();
    }
  });
});

/** For `eventually`: `undefined`, which means try again, when the store is unavailable. */
const unlessUnavailable = (error: unknown): undefined => {
  if (error instanceof EventStoreUnavailable || error instanceof OutcomeUnknown) return undefined;
  throw error;
};
