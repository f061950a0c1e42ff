import { connect } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
import { createEventStoreDb } from '../../src/events/store/eventStoreDb/eventStore.js';
import type { CopyTarget } from '../../src/events/store/eventStore.js';
import { systemRandom } from '../../src/platform/random.js';
import { FakeCluster } from './eventStoreDbFake/fakeEventStoreDb.js';
import type { EventStoreHarness } from './eventStoreHarness.js';
import { startProcess } from './eventStoreSpawn.js';
import { createShiftedClock } from './shiftedClock.js';

/** For `startProcess`. */
export const eventStoreDbOpener = new URL('./eventStoreDbOpener.ts', import.meta.url).href;

/** The adapter on the server at `url()`, with the faults that a test can cause on any server. */
const harnessOn = (
  url: () => string,
  faults: Pick<EventStoreHarness['faults'], 'takeDown' | 'loseAnswers'>,
): EventStoreHarness => {
  const clock = createShiftedClock();
  const open = (): Promise<CopyTarget> => Promise.resolve(createEventStoreDb({ url: url(), clock, random: systemRandom }));
  return {
    create: async () => ({ store: await open(), reopen: open }),
    faults: {
      process: (_under, task) => startProcess(eventStoreDbOpener, url(), task),
      setClock: (_under, epochMs) => {
        clock.shift(epochMs - clock.now());
      },
      crash: { because: 'killing the server is tried on machines that have one' },
      fillDisk: { because: 'EventStoreDB ends itself when its disk is full' },
      ...faults,
    },
  };
};

/** The adapter on a fake of one node, which is started before the tests and stopped after them. */
export const fakeHarness = (): EventStoreHarness => {
  let started: FakeCluster | undefined;
  const fake = (): FakeCluster => {
    if (started === undefined) throw new Error('the fake is not there yet');
    return started;
  };
  beforeAll(async () => {
    started = await FakeCluster.start();
  });
  afterAll(() => {
    started?.stop();
  });
  return harnessOn(() => fake().url, {
    takeDown: async () => {
      const [node] = fake().nodes;
      fake().stop();
      // The ends of its connections have been delivered then, as when a process was killed and waited for.
      await untilRefused(node?.port ?? 0);
      return () => fake().restart();
    },
    loseAnswers: () => {
      fake().faults.answers = 'lost';
      return Promise.resolve(() => {
        fake().faults.answers = 'given';
        return Promise.resolve();
      });
    },
  });
};

const untilRefused = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => {
      resolve();
    });
    socket.once('connect', () => {
      socket.destroy();
      reject(new Error(`something still listens on port ${String(port)}`));
    });
  });

/** The adapter on a real server, of which the tests have only the address. */
export const serverHarness = (url: string) => (): EventStoreHarness =>
  harnessOn(() => url, {
    takeDown: { because: 'the server is not ours to stop' },
    loseAnswers: { because: 'nothing stands between the adapter and the server' },
  });
