import {
  eraseClient,
  forgetPerson,
  type ErasureParts,
  type PersonalDataHolder,
} from '../../src/commands/erasure/erasure.handlers.js';
import type { CommandContext } from '../../src/commands/handleCommand.js';
import type { Core, Stores } from '../../src/compose/core.js';
import type { Engine } from '../../src/engine.js';
import { erasureTargets, tokensOfAddress } from '../../src/projections/erasure/erasureTargets.queries.js';
import type { Hosting } from '../../src/integrations/hosting/port.js';
import type { SourceHost } from '../../src/integrations/sourceHost/port.js';
import type { Reader } from '../../src/projections/reader.js';
import type { RecordStore } from '../../src/projections/store/readModelStore.js';
import { createDeployments, type Deployments } from '../../src/workers/deployment/deployments.js';

/** A process of its own: all that its parts are given, in one. */
export type TestProcess = Engine & Reader & Pick<Core, 'createReactor'> & Stores & { readonly records: RecordStore };

/** A process as workers take it. */
export const partsOf = (process: TestProcess): Pick<Core, 'engine' | 'reader' | 'createReactor'> => ({
  engine: process,
  reader: process,
  createReactor: process.createReactor,
});

interface Pair {
  readonly sourceHost: SourceHost;
  readonly hosting: Hosting;
}

/** As workers take it that deploy to these providers. */
export const deployingOn = (
  process: TestProcess,
  { sourceHost, hosting }: Pair,
): ReturnType<typeof partsOf> & Pair & { readonly deployments: Deployments } => {
  const deployments = createDeployments({ engine: process, records: process.records, sourceHost, hosting });
  return { ...partsOf(process), sourceHost, hosting, deployments };
};

/** What an erasure is given: the targets as the read models of this process know them. */
export const erasureOf = (process: TestProcess, holders: readonly PersonalDataHolder[] = []): ErasureParts => ({
  findTargets: (clientId, emails) => erasureTargets(process, clientId, emails),
  findTokens: (person) => tokensOfAddress(process, person),
  accounts: { forget: () => Promise.resolve() },
  holders,
});

/** An erasure as the route carries it out. */
export const eraseWhole = async (engine: Engine, parts: ErasureParts, clientId: string, context: CommandContext): Promise<void> =>
  forgetPerson(engine, parts, await eraseClient(engine, parts, clientId, context));

/** Opened stores as one process. */
export const processOn = ({ engine, reader, createReactor, stores }: Core): TestProcess => ({
  ...engine,
  ...reader,
  ...stores,
  createReactor,
  records: stores.readModels.records,
});
