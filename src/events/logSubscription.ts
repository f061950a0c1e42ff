import { EventStoreUnavailable, type EventStore, type StoredEvent } from './store/eventStore.js';

/**
 * One live subscription to the log for all who listen in a process: a thousand listeners cost one.
 * It runs while there is a listener.
 */
export interface LogSubscription {
  /**
   * Calls `onEvent` with the events of the topics that are committed after this has resolved, in
   * log order. Some that were committed shortly before may come too. It ends when `signal` is
   * aborted, or with `onFault`: call it again to go on.
   * @throws EventStoreUnavailable
   */
  readonly listen: (listener: LogListener, signal: AbortSignal) => Promise<void>;
}

export interface LogListener {
  readonly topics: readonly Topic[];
  /** Must not block: the others wait. An event of several topics comes for each of them. */
  readonly onEvent: (event: StoredEvent) => void;
  readonly onFault: (fault: unknown) => void;
}

/** One stream, the events that name one website, or everything. */
export type Topic = `stream ${string}` | `website ${string}` | 'everything';

interface Running {
  readonly listeners: Map<string, Set<LogListener>>;
  readonly stopping: AbortController;
  readonly started: Promise<bigint>;
}

export const createLogSubscription = (eventStore: EventStore): LogSubscription => {
  let current: Running | null = null;

  const dispatch = ({ listeners }: Running, event: StoredEvent): void => {
    const { websiteId } = event.data;
    const topics = [`stream ${event.stream}`, ...(typeof websiteId === 'string' ? [`website ${websiteId}`] : []), 'everything'];
    for (const topic of topics) for (const { onEvent } of [...(listeners.get(topic) ?? [])]) onEvent(event);
  };

  const follow = async (running: Running): Promise<void> => {
    let fault: unknown;
    try {
      const after = await running.started;
      for await (const { events } of eventStore.subscribe({ after, signal: running.stopping.signal })) {
        for (const event of events) dispatch(running, event);
      }
      fault = new EventStoreUnavailable('the subscription ended');
    } catch (error) {
      fault = error;
    }
    if (current === running) current = null;
    const left = new Set([...running.listeners.values()].flatMap((listeners) => [...listeners]));
    running.listeners.clear();
    for (const { onFault } of left) onFault(fault);
  };

  const start = (): Running => {
    const running = { listeners: new Map(), stopping: new AbortController(), started: eventStore.lastPosition() };
    void follow(running);
    return running;
  };

  const remove = ({ listeners }: Running, listener: LogListener): void => {
    for (const topic of listener.topics) {
      const others = listeners.get(topic);
      others?.delete(listener);
      if (others?.size === 0) listeners.delete(topic);
    }
  };

  return {
    listen: async (listener, signal) => {
      if (signal.aborted) return;
      const running = (current ??= start());
      for (const topic of listener.topics) {
        const others = running.listeners.get(topic) ?? new Set();
        running.listeners.set(topic, others.add(listener));
      }
      const stop = (): void => {
        remove(running, listener);
        if (running.listeners.size > 0) return;
        running.stopping.abort();
        if (current === running) current = null;
      };
      signal.addEventListener('abort', stop, { once: true });
      await running.started;
    },
  };
};
