import type { Actor } from '../events/envelope.js';
import { listParked } from '../projections/parkedWork/parkedWork.queries.js';
import { retryParked } from '../workers/parkedWork.js';
import { optionsOf, runScript, UsageError } from './script.js';

const actor: Actor = { subject: 'mails:parked', role: 'system', via: 'operator' };

/**
 * `npm run mails:parked`: lists the parked mails; with `--send-again` the workers try them again.
 */
await runScript(async ({ engine, stores }) => {
  const { 'send-again': requested } = optionsOf('parkedMails', { 'send-again': { type: 'string' } });
  const parked = (await listParked(stores)).flatMap((work) => (work.kind === 'mail' ? [work] : []));
  const chosen = parked.filter(({ id }) => requested === undefined || requested === 'all' || requested === id);
  if (chosen.length === 0 && requested !== undefined && requested !== 'all') throw new UsageError(`No parked mail ${requested}`);
  for (const work of chosen) {
    const { id, at, reason, of } = work;
    if (requested !== undefined) {
      const context = { commandId: engine.ids.commandId(), actor, requestId: actor.subject };
      await retryParked(engine, work, context);
    }
    const what = requested === undefined ? reason : 'will be sent again';
    process.stdout.write(`${id}  ${at}  website ${of.websiteId}, invitation ${of.invitationId}: ${what}\n`);
  }
  if (chosen.length === 0) process.stdout.write('No mail is parked.\n');
});
