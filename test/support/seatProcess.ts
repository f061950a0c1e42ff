import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import { createHandleCommand, type CommandContext, type HandleCommand, type Handled } from '../../src/commands/handleCommand.js';
import { createEmbeddedEventStore } from '../../src/events/store/embedded/eventStore.js';
import type { EventStore } from '../../src/events/store/eventStore.js';
import { createStreamFolds } from '../../src/events/streamFolds.js';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import { createIds } from '../../src/platform/ids.js';
import { systemRandom } from '../../src/platform/random.js';
import { createFaultyEventStore, type FaultyEventStore } from './faultyEventStore.js';
import { room, seatCodec, seatDecider, type SeatEvent, type SeatState } from './seats.js';
import { temporaryFolder } from './temporary.js';

/** The room in which `take` takes seats. */

const ids = createIds(systemClock, systemRandom);

export const newContext = (changes: Partial<CommandContext> = {}): CommandContext => ({
  commandId: ids.commandId(),
  actor: { subject: 'ops@example.com', role: 'admin', via: 'portal' },
  requestId: 'request-1',
  ...changes,
});

/** A process that handles commands, with a store that can be made to fail. */
export interface SeatProcess {
  readonly store: FaultyEventStore;
  readonly handle: HandleCommand;
  readonly take: (by: string, context?: CommandContext) => Promise<Handled<SeatState, SeatEvent>>;
}

const opened: EventStore[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

/**
 * A process of its own on the log in `folder`: it shares nothing with others but the file. Closed
 * after the test.
 */
export const startProcess = async (clock: Clock = systemClock, folder = temporaryFolder()): Promise<SeatProcess> => {
  const sound = await createEmbeddedEventStore({ file: join(folder, 'events.db'), clock });
  opened.push(sound);
  const store = createFaultyEventStore(sound);
  const folds = createStreamFolds(store, seatCodec);
  const handle = createHandleCommand({ eventStore: store, codec: seatCodec, folds, clock, random: systemRandom });
  return {
    store,
    handle,
    take: (by, context = newContext()) => handle(seatDecider, { type: 'TakeSeats', by }, context),
  };
};

/** Two processes on one log. */
export const startTwo = async (
  clocks: readonly [Clock, Clock] = [systemClock, systemClock],
): Promise<readonly [SeatProcess, SeatProcess]> => {
  const folder = temporaryFolder();
  return [await startProcess(clocks[0], folder), await startProcess(clocks[1], folder)];
};

/** What the log contains, without any cache. */
export const inLog = async ({ store }: SeatProcess): Promise<SeatState> =>
  (await createStreamFolds(store, seatCodec).load(seatDecider, room)).state;

export const names = (count: number, prefix = ''): string[] => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
