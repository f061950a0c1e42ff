import { createEventStoreDb } from '../../src/events/store/eventStoreDb/eventStore.js';
import type { EventStore } from '../../src/events/store/eventStore.js';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';

/** For eventStoreProcess.ts: `url` is the connection string. */
export const openEventStore = (url: string): Promise<EventStore> =>
  Promise.resolve(createEventStoreDb({ url, clock: systemClock, random: systemRandom }));
