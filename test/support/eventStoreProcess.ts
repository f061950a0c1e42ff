import { writeSync } from 'node:fs';
import { once } from 'node:events';
import { NO_STREAM, WrongExpectedRevision, type EventStore } from '../../src/events/store/eventStore.js';
import { newEvent } from './eventStoreEvents.js';
import { EVENTS_PER_APPEND, type ProcessTask } from './eventStoreHarness.js';

/**
 * A process of its own that works on a log: `<opener> <address> <task as JSON>`. The opener is a
 * module that exports `openEventStore(address)`. It prints `ready`, waits for a line, does the
 * task, and prints `answer <JSON>`.
 */
const [, , opener = '', address = '', taskText = ''] = process.argv;
const { openEventStore } = (await import(opener)) as { openEventStore: (address: string) => Promise<EventStore> };
const task = JSON.parse(taskText) as ProcessTask;
const store = await openEventStore(address);

/** Written at once, so that a line is out before the process can be killed. */
const print = (line: string): void => {
  writeSync(1, `${line}\n`);
};

const perform = async (): Promise<unknown> => {
  switch (task.kind) {
    case 'race': {
      const attempts = Array.from({ length: task.count }, () =>
        store.append(task.stream, [newEvent()], 0n).then(
          () => 1,
          (error: unknown) => {
            if (error instanceof WrongExpectedRevision) return 0;
            throw error;
          },
        ),
      );
      return { won: (await Promise.all(attempts)).reduce<number>((sum, won) => sum + won, 0) };
    }
    case 'write':
      for (let index = 0; index < task.count; index += 1) {
        await store.append(
          `${task.category}${String(process.pid)}-${String(index % 5)}`,
          [newEvent('Happened', { index })],
          'any',
        );
      }
      return {};
    case 'writeForever':
      return Promise.all(
        Array.from({ length: 8 }, (_, writer) => writeForever(`${task.category}${String(process.pid)}-${String(writer)}`)),
      );
  }
};

const writeForever = async (stream: string): Promise<never> => {
  for (let expected = NO_STREAM; ;) {
    const events = Array.from({ length: EVENTS_PER_APPEND }, (_, index) =>
      newEvent('Happened', { index, padding: 'x'.repeat(500) }),
    );
    ({ revision: expected } = await store.append(stream, events, expected));
    print(events[0]?.id ?? '');
  }
};

print('ready');
await once(process.stdin, 'data');
// Nothing but the store keeps the process alive from here on.
process.stdin.destroy();
const answer = await perform().catch((error: unknown) => ({ failed: error instanceof Error ? error.name : String(error) }));
await store.close();
print(`answer ${JSON.stringify(answer)}`);
