import type { Actor } from '../events/envelope.js';
import { listParked } from '../projections/parkedWork/parkedWork.queries.js';
import { retryParked } from '../workers/parkedWork.js';
import { optionsOf, runScript, UsageError } from './script.js';

const actor: Actor = { subject: 'webhooks:parked', role: 'system', via: 'operator' };

/**
 * `npm run webhooks:parked`: lists the parked webhooks; with `--replay` the workers process them
 * again.
 */
await runScript(async ({ engine, stores }) => {
  const { replay: requested } = optionsOf('parkedWebhooks', { replay: { type: 'string' } });
  const parked = (await listParked(stores)).flatMap((work) => (work.kind === 'webhook' ? [work] : []));
  const chosen = parked.filter(({ id }) => requested === undefined || requested === 'all' || requested === id);
  if (chosen.length === 0 && requested !== undefined && requested !== 'all')
    throw new UsageError(`No parked webhook ${requested}`);
  for (const work of chosen) {
    const { id, at, reason, of } = work;
    if (requested !== undefined) {
      const context = { commandId: engine.ids.commandId(), actor, requestId: actor.subject };
      await retryParked(engine, work, context);
    }
    const what = requested === undefined ? reason : 'will be processed again';
    process.stdout.write(`${id}  ${at}  website ${of.websiteId}, ${of.topic}: ${what}\n`);
  }
  if (chosen.length === 0) process.stdout.write('No webhook is parked.\n');
});
