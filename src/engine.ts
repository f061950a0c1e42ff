import { createHandleCommand, type HandleCommand } from './commands/handleCommand.js';
import type { Codec } from './events/codec.js';
import type { LogSubscription } from './events/logSubscription.js';
import type { EventStore } from './events/store/eventStore.js';
import { createPlanningEventStore, type PlannedEvent, type PlanningEventStore } from './events/store/planningEventStore.js';
import { createStreamFolds, type StreamFolds } from './events/streamFolds.js';
import { createStreamReader, type StreamReader } from './events/streamReader.js';
import { isoTime, type Clock } from './platform/clock.js';
import { createIds, type Ids } from './platform/ids.js';
import type { Logger } from './platform/logger.js';
import { planPersonalData, type PersonalData } from './platform/personal.js';
import type { Random } from './platform/random.js';
import { planSecrets } from './platform/vault/plannedSecrets.js';
import type { SecretVault } from './platform/vault/vault.js';

/**
 * What commands, routes and workers use: it handles commands, reads single streams and reports
 * their changes.
 */
export interface Engine extends StreamReader {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly handle: HandleCommand;
  /**
   * Yields at every change of one of the streams that is committed after the call, by any process,
   * until `signal` is aborted.
   */
  readonly watch: (streams: readonly string[], signal: AbortSignal) => Promise<AsyncIterator<undefined, void>>;
  readonly waitFor: WaitFor;
  /** For one dry run. */
  readonly plan: () => Plan;
  readonly vault: SecretVault;
  readonly personal: PersonalData;
  /** Of `personal`. */
  readonly blindIndex: (text: string) => string;
}

/**
 * Calls `find` now and after every change of one of the streams, by any process, until it finds
 * something. `find` is told the time at which the wait ends.
 * @returns what was found; `null` after `timeoutMs`, or once `gone` is aborted
 * @throws what `find` throws; EventStoreUnavailable
 */
export type WaitFor = <Found>(
  streams: readonly string[],
  limits: { readonly timeoutMs: number; readonly gone?: AbortSignal },
  find: (deadline: number) => Promise<Found | null>,
) => Promise<Found | null>;

/** A dry run: commands are handled as always, and nothing is written. */
export interface Plan {
  /**
   * Behaves like the engine that it was made from, but keeps events in memory, where its own reads
   * find them. Secrets and personal data are not written either.
   */
  readonly engine: Engine;
  /** The events that were planned so far, in order. */
  readonly planned: readonly PlannedEvent[];
}

export interface EngineParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly codec: Codec;
  readonly eventStore: EventStore;
  readonly folds: StreamFolds;
  /** Of `eventStore`. */
  readonly subscription: LogSubscription;
  readonly vault: SecretVault;
  readonly personal: PersonalData;
}

export const createEngine = (parts: EngineParts): Engine => {
  const { clock, random, logger, codec, eventStore, folds, subscription, vault, personal } = parts;

  const plan = (): Plan => {
    const planning = createPlanningEventStore(eventStore, () => isoTime(clock.now()));
    const engine = createEngine({
      ...parts,
      eventStore: planning.store,
      folds: planFolds(planning, parts),
      vault: planSecrets(vault),
      personal: planPersonalData(personal),
    });
    return { engine, planned: planning.planned };
  };

  const watch: Engine['watch'] = (streams, signal) => watchStreams(subscription, streams, signal);

  return {
    clock,
    random,
    ids: createIds(clock, random),
    logger,
    ...createStreamReader({ eventStore, codec, folds }),
    handle: createHandleCommand({ eventStore, codec, folds, clock, random }),
    watch,
    waitFor: createWaitFor(clock, watch),
    plan,
    vault,
    personal,
    blindIndex: (text) => personal.blindIndex(text),
  };
};

const createWaitFor =
  (clock: Clock, watch: Engine['watch']): WaitFor =>
  async (streams, { timeoutMs, gone }, find) => {
    const deadline = clock.now() + timeoutMs;
    const enough = new AbortController();
    const cancelTimeout = clock.schedule(timeoutMs, () => {
      enough.abort();
    });
    try {
      const signal = gone === undefined ? enough.signal : AbortSignal.any([gone, enough.signal]);
      // Before the first look, so that no change between the two is missed.
      const changes = await watch(streams, signal);
      do {
        const found = await find(deadline);
        if (found !== null) return found;
      } while ((await changes.next()).done !== true);
      return null;
    } finally {
      cancelTimeout();
      // Ends the watch too, which would listen for ever.
      enough.abort();
    }
  };

/** Changes that come while nobody waits are reported as one. */
const watchStreams = async (
  subscription: LogSubscription,
  streams: readonly string[],
  signal: AbortSignal,
): Promise<AsyncIterator<undefined, void>> => {
  let hasChanged = false;
  const ended: { fault?: { readonly error: unknown } } = {};
  let wake = (): void => undefined;
  await subscription.listen(
    {
      topics: streams.map((name) => `stream ${name}` as const),
      onEvent: () => {
        hasChanged = true;
        wake();
      },
      onFault: (error) => {
        ended.fault = { error };
        wake();
      },
    },
    signal,
  );
  signal.addEventListener(
    'abort',
    () => {
      wake();
    },
    { once: true },
  );

  async function* changes(): AsyncGenerator<undefined, void> {
    const isOpen = (): boolean => !signal.aborted;
    while (isOpen()) {
      if (ended.fault !== undefined) throw ended.fault.error;
      if (hasChanged) {
        hasChanged = false;
        yield undefined;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  }
  return changes();
};

/**
 * Separate folds, so that a planned event never enters the cache of folded streams. They start from
 * what is cached already.
 */
const planFolds = (
  { store, hasPlanned }: PlanningEventStore,
  { folds, codec }: Pick<EngineParts, 'folds' | 'codec'>,
): StreamFolds => {
  const own = createStreamFolds(store, codec);
  return {
    load: (fold, stream, options = {}) =>
      own.load(fold, stream, {
        ...options,
        seed: () => (hasPlanned(stream) ? Promise.resolve(null) : folds.load(fold, stream, options)),
      }),
  };
};
