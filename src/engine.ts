import { createHandleCommand, type HandleCommand } from './commands/handleCommand.js';
import type { Codec } from './events/codec.js';
import type { DomainEvent } from './events/envelope.js';
import type { StreamFold } from './events/fold.js';
import type { EventStore } from './events/store/eventStore.js';
import { createStreamFolds, type Folded } from './events/streamFolds.js';
import type { Clock } from './platform/clock.js';
import { createIds, type Ids } from './platform/ids.js';
import type { Logger } from './platform/logger.js';
import type { PersonalData } from './platform/personal.js';
import type { Random } from './platform/random.js';
import type { Vault } from './platform/vault.js';
import type { ReadModelStore } from './projections/store/readModelStore.js';
import { createValidatedRead, type ValidatedRead } from './projections/validatedRead.js';

/** What routes, workers and commands stand on: the stores, and the three ways to use them (decide, read one, read a list). */
export interface Engine {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly codec: Codec;
  readonly eventStore: EventStore;
  readonly readModels: ReadModelStore;
  readonly handle: HandleCommand;
  /** A stream's state as of now: what a decision that rests on another stream, and every authorisation, looks at. */
  readonly state: <State, Event extends DomainEvent, Key>(
    fold: StreamFold<State, Event, Key>,
    key: Key,
  ) => Promise<Folded<State>>;
  readonly read: ValidatedRead;
  readonly vault: Vault;
  readonly personal: PersonalData;
  /** Of `personal`. */
  readonly blindIndex: (text: string) => string;
}

export const createEngine = (parts: {
  clock: Clock;
  random: Random;
  logger: Logger;
  codec: Codec;
  eventStore: EventStore;
  readModels: ReadModelStore;
  vault: Vault;
  personal: PersonalData;
}): Engine => {
  const { clock, random, logger, codec, eventStore, readModels, vault, personal } = parts;
  const folds = createStreamFolds(eventStore, codec);
  return {
    clock,
    random,
    ids: createIds(clock, random),
    logger,
    codec,
    eventStore,
    readModels,
    handle: createHandleCommand({ eventStore, codec, folds, clock, random }),
    state: (fold, key) => folds.load(fold, fold.stream.name(key)),
    read: createValidatedRead({ folds, readModels }),
    vault,
    personal,
    blindIndex: (text) => personal.blindIndex(text),
  };
};
