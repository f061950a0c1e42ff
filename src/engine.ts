import { createHandleCommand, type HandleCommand } from './commands/handleCommand.js';
import type { Codec } from './events/codec.js';
import type { EventStore } from './events/store/eventStore.js';
import type { StreamFolds } from './events/streamFolds.js';
import { createStreamReader, type StreamReader } from './events/streamReader.js';
import type { Clock } from './platform/clock.js';
import { createIds, type Ids } from './platform/ids.js';
import type { Logger } from './platform/logger.js';
import type { PersonalData } from './platform/personal.js';
import type { Random } from './platform/random.js';
import type { Vault } from './platform/vault.js';

/** What commands, routes and workers stand on: it decides, reads single streams and tells of their changes. */
export interface Engine extends StreamReader {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly handle: HandleCommand;
  /** Yields at every change of one of the streams that is committed after the call, by any process, until `signal` is aborted. */
  readonly watch: (streams: readonly string[], signal: AbortSignal) => Promise<AsyncIterator<undefined, void>>;
  readonly vault: Vault;
  readonly personal: PersonalData;
  /** Of `personal`. */
  readonly blindIndex: (text: string) => string;
}

export interface EngineParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly codec: Codec;
  readonly eventStore: EventStore;
  readonly folds: StreamFolds;
  readonly vault: Vault;
  readonly personal: PersonalData;
}

export const createEngine = (parts: EngineParts): Engine => {
  const { clock, random, logger, codec, eventStore, folds, vault, personal } = parts;

  async function* changes(streams: readonly string[], after: bigint, signal: AbortSignal): AsyncGenerator<undefined, void> {
    for await (const { events } of eventStore.subscribe({ after, filter: { streamPrefixes: streams }, signal })) {
      if (events.some(({ stream }) => streams.includes(stream))) yield undefined;
    }
  }

  return {
    clock,
    random,
    ids: createIds(clock, random),
    logger,
    ...createStreamReader({ eventStore, codec, folds }),
    handle: createHandleCommand({ eventStore, codec, folds, clock, random }),
    // The position is taken before the call resolves: what the caller reads afterwards misses no change.
    watch: async (streams, signal) => changes(streams, await eventStore.lastPosition(), signal),
    vault,
    personal,
    blindIndex: (text) => personal.blindIndex(text),
  };
};
