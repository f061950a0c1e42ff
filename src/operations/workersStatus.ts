import { createAddress } from '../compose/address.js';
import { composeIntegrations } from '../compose/integrations.js';
import type { OpenCore } from '../compose/stores.js';
import { composeWorkers } from '../compose/workers.js';
import { shippedFiles } from '../compose.js';
import type { Actor } from '../events/envelope.js';
import type { Settings } from '../platform/settings/settings.js';
import type { ParkedWork } from '../projections/parkedWork/parkedWork.projection.js';
import { listParked } from '../projections/parkedWork/parkedWork.queries.js';
import { retryParked } from '../workers/parkedWork.js';
import { workerStatus, type WorkerStatus } from '../workers/workerStatus.js';
import { optionsOf, runScript, UsageError } from './script.js';
import { printJson, printTable } from './table.js';

const actor: Actor = { subject: 'workers:status', role: 'system', via: 'operator' };

const statusOf = async (core: OpenCore, settings: Settings): Promise<readonly WorkerStatus[]> => {
  const { engine, stores } = core;
  const address = createAddress(settings);
  const integrations = composeIntegrations(settings, core, address, shippedFiles);
  try {
    // They are not started: they only say what they react to.
    const { workers } = composeWorkers(settings, core, integrations, address, shippedFiles);
    return await workerStatus(workers, { ...stores, records: stores.readModels.records, clock: engine.clock });
  } finally {
    integrations.close();
  }
};

const whatOf = (work: ParkedWork): string => {
  switch (work.kind) {
    case 'mail':
      return `mail of invitation ${work.of.invitationId}, website ${work.of.websiteId}`;
    case 'webhook':
      return `webhook ${work.of.topic}, website ${work.of.websiteId}`;
    case 'reaction':
      return `reaction to ${work.of.eventType} at position ${work.of.position}, stream ${work.of.stream}`;
  }
};

const lineOf = (work: ParkedWork, end = work.reason): string => {
  const { worker, state, id, at } = work;
  return `${worker}  ${state}  ${id}  ${at}  ${whatOf(work)}: ${end}\n`;
};

/**
 * `npm run workers:status`: how far each worker is behind, and what is parked or fails; `--retry`
 * has the workers try parked and failing work again.
 */
await runScript(async (core, settings) => {
  const { json, retry } = optionsOf('workersStatus', { json: { type: 'boolean' }, retry: { type: 'string' } });
  const { engine, stores } = core;
  const parked = await listParked(stores);
  if (retry !== undefined) {
    const chosen = parked.filter(({ id, state }) => (retry === 'all' ? state === 'parked' : id === retry));
    if (chosen.length === 0 && retry !== 'all') throw new UsageError(`Nothing with the id ${retry} is parked or fails`);
    for (const work of chosen) {
      await retryParked(engine, work, { commandId: engine.ids.commandId(), actor, requestId: actor.subject });
      process.stdout.write(lineOf(work, 'will be tried again'));
    }
    if (chosen.length === 0) process.stdout.write('Nothing is parked.\n');
    return;
  }
  const workers = await statusOf(core, settings);
  if (json === true) {
    printJson({ workers, parked });
    return;
  }
  printTable([
    ['name', 'position', 'behind (ms)'],
    ...workers.map(({ name, position, ms }) => [name, String(position), String(ms)]),
  ]);
  for (const work of parked) process.stdout.write(lineOf(work));
  if (parked.length === 0) process.stdout.write('Nothing is parked.\n');
});
