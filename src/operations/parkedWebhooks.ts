import { parseArgs } from 'node:util';
import type { Actor } from '../events/envelope.js';
import { listParked } from '../projections/parkedWork/parkedWork.queries.js';
import { retryParked } from '../workers/parkedWork.js';
import { runScript, UsageError } from './script.js';
import { usageOf } from './scriptHelp.js';

const usage = usageOf('parkedWebhooks');
const actor: Actor = { subject: 'webhooks:parked', role: 'system', via: 'operator' };

const readArguments = (): string | undefined => {
  try {
    return parseArgs({ options: { replay: { type: 'string' } } }).values.replay;
  } catch (error) {
    // `parseArgs` throws a TypeError for an unknown option.
    throw error instanceof TypeError ? new UsageError(`${error.message}\n${usage}`) : error;
  }
};

/**
 * `npm run webhooks:parked`: lists the parked webhooks; with `--replay` the workers process them
 * again.
 */
await runScript(async ({ engine, stores }) => {
  const requested = readArguments();
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
