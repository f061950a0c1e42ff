import type { CommandContext } from '../../src/commands/handleCommand.js';
import type { Plan } from '../../src/engine.js';
import { Refused, type Refusal } from '../../src/commands/refusal.js';
import type { Actor } from '../../src/events/envelope.js';
import type { Clock } from '../../src/platform/clock.js';
import { systemClock } from '../../src/platform/clock.js';
import type { TestProcess } from './process.js';
import { engineOn, openStores, type Stores } from '../workers/engines.js';
import { createFaultyEventStore, type FaultyEventStore } from './faultyEventStore.js';
import { someAdmin } from './given.js';
import { temporaryFolder } from './temporary.js';

/** An engine of a process of its own, with a log that can be made to fail. */
export interface EngineProcess extends Stores {
  readonly engine: TestProcess;
  readonly eventStore: FaultyEventStore;
  /** A new command of somebody, by default an admin. */
  readonly context: (changes?: Partial<CommandContext>) => CommandContext;
}

/** Processes on the files in `folder`: they share nothing else. */
export const startEngine = async (clock: Clock = systemClock, folder = temporaryFolder()): Promise<EngineProcess> => {
  const stores = await openStores(clock, folder);
  const eventStore = createFaultyEventStore(stores.eventStore);
  const engine = engineOn({ ...stores, eventStore }, { clock });
  return {
    ...stores,
    engine,
    eventStore,
    context: (changes) => ({ commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request', ...changes }),
  };
};

/** The same process with an engine that plans, and what it has planned. */
export const planningOf = (process: EngineProcess): EngineProcess & Pick<Plan, 'planned'> => {
  const { engine, planned } = process.engine.plan();
  return { ...process, engine: { ...process.engine, ...engine }, planned };
};

export const clientActor = (subject: string): Actor => ({ subject, role: 'client', via: 'portal' });

/** Every event of the log, as stream and type. */
export const logOf = async ({ eventStore }: Pick<Stores, 'eventStore'>): Promise<readonly (readonly [string, string])[]> =>
  (await eventStore.readAll({ after: 0n })).events.map(({ stream, type }) => [stream, type]);

/**
 * How many of each outcome there are: values as they are, refusals by their message. What is
 * neither is thrown.
 */
export const outcomes = async <Value>(
  work: readonly Promise<Value>[],
): Promise<{ readonly values: readonly Value[]; readonly refusals: readonly Refusal[] }> => {
  const settled = await Promise.allSettled(work);
  return {
    values: settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    refusals: settled.flatMap((one) => {
      if (one.status === 'fulfilled') return [];
      if (one.reason instanceof Refused) return [one.reason.refusal];
      throw one.reason;
    }),
  };
};
