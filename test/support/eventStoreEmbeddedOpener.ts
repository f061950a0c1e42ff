import { createEmbeddedEventStore } from '../../src/events/store/embedded/eventStore.js';
import type { EventStore } from '../../src/events/store/eventStore.js';
import { systemClock } from '../../src/platform/clock.js';

/** For eventStoreProcess.ts: `file` is the path of the log. */
export const openEventStore = (file: string): Promise<EventStore> => createEmbeddedEventStore({ file, clock: systemClock });
