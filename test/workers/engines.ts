import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import { createCore } from '../../src/compose/core.js';
import { catalogue } from '../../src/events/catalogue.js';
import { createCodec } from '../../src/events/codec.js';
import { createEmbeddedEventStore } from '../../src/events/store/embedded/eventStore.js';
import type { EventStore } from '../../src/events/store/eventStore.js';
import { systemClock, type Clock } from '../../src/platform/clock.js';
import { createLogger, type Logger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { createEmbeddedReadModelStore } from '../../src/projections/store/embedded/embeddedReadModelStore.js';
import type { ReadModelStore } from '../../src/projections/store/readModelStore.js';
import { temporaryFolder } from '../support/temporary.js';
import { processOn, type TestProcess } from '../support/process.js';
import { openVaultIn, type Secrets } from '../support/vaults.js';

export interface Stores extends Secrets {
  readonly eventStore: EventStore;
  readonly readModels: ReadModelStore;
}

const opened: { readonly close: () => Promise<unknown> }[] = [];

afterAll(async () => {
  for (const { close } of opened.splice(0)) await close();
});

/** Stores in files of their own, closed after the test file. */
export const openStores = async (clock: Clock = systemClock, folder = temporaryFolder()): Promise<Stores> => {
  const eventStore = await createEmbeddedEventStore({ file: join(folder, 'events.db'), clock });
  const readModels = await createEmbeddedReadModelStore({ file: join(folder, 'read-models.db'), clock });
  const { vault, personal, close } = await openVaultIn(folder, clock);
  opened.push(eventStore, readModels, { close });
  return { eventStore, readModels, vault, personal };
};

const silent = createLogger({ level: 'silent' });
/** One for all: compiling the schemas takes longer than everything else. */
const codec = createCodec(catalogue);

/** A process of its own on `stores`: nothing is shared with others but the stores. */
export const engineOn = (
  { eventStore, readModels, vault, personal }: Stores,
  { clock = systemClock, logger = silent }: { clock?: Clock; logger?: Logger } = {},
): TestProcess => processOn(createCore({ clock, random: systemRandom, logger, codec, eventStore, readModels, vault, personal }));
