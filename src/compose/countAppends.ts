import type { EventStore } from '../events/store/eventStore.js';
import type { Metrics } from '../http/metrics.js';

/** The same store; appends through it are counted. */
export const countAppends = (eventStore: EventStore, metrics: Pick<Metrics, 'appended' | 'appendFailed'>): EventStore => ({
  append: async (stream, events, expected) => {
    try {
      const result = await eventStore.append(stream, events, expected);
      metrics.appended(events.length);
      return result;
    } catch (error) {
      metrics.appendFailed(error);
      throw error;
    }
  },
  drop: (stream, head) => eventStore.drop(stream, head),
  moment: () => eventStore.moment(),
  readStream: (stream, options) => eventStore.readStream(stream, options),
  readAll: (options) => eventStore.readAll(options),
  lastPosition: (filter) => eventStore.lastPosition(filter),
  subscribe: (options) => eventStore.subscribe(options),
  close: () => eventStore.close(),
});
