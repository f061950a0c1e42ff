import { systemClock, type Clock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { createMongoReadModelStore } from '../../src/projections/store/mongodb/mongoReadModelStore.js';
import type { ReadModelStore } from '../../src/projections/store/readModelStore.js';
import { mongoDatabase } from '../support/mongoDatabase.js';
import { forEachReadModelServer } from '../support/realServers.js';
import { readModelStoreContract } from './readModelStore.contract.js';

forEachReadModelServer((server) => {
  readModelStoreContract(server.name, () => {
    let now = Date.UTC(2026, 0, 1);
    // Records expire by a clock that stands still, but waits take real time, because the server
    // does. Time limits of seconds are ten times as long, so that the tests pass on a busy machine.
    const clock: Clock = {
      now: () => now,
      schedule: (delayMs, task, options) => systemClock.schedule(delayMs * (delayMs > 1_000 ? 10 : 1), task, options),
    };
    const url = mongoDatabase(server);
    const opened: ReadModelStore[] = [];
    return Promise.resolve({
      open: async () => {
        const store = await createMongoReadModelStore({ url, clock, random: systemRandom });
        opened.push(store);
        return store;
      },
      advance: (ms) => {
        now += ms;
        return Promise.resolve();
      },
      now: () => now,
      close: async () => {
        await Promise.all(opened.map((store) => store.close()));
      },
    });
  });
});
