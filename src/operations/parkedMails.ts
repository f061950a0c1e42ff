import { parseArgs } from 'node:util';
import type { Stores } from '../compose/core.js';
import type { Actor } from '../events/envelope.js';
import { type InvitationMailEvent } from '../events/invitationMail/invitationMail.events.js';
import { START } from '../events/store/eventStore.js';
import { invitationMailProcess, type MailName } from '../workers/invitationMail/invitationMail.process.js';
import { runScript, UsageError } from './script.js';

const usage = 'Usage: npm run mails:parked -- [--send-again <mail id> | --send-again all]';
const actor: Actor = { subject: 'mails:parked', role: 'system', via: 'worker' };

interface ParkedMail extends MailName {
  readonly reason: string;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** The parked mails, oldest first, read from the event log. */
const parkedMails = async ({ eventStore, codec }: Stores): Promise<readonly ParkedMail[]> => {
  const parked = new Map<string, ParkedMail>();
  const types: readonly InvitationMailEvent['type'][] = ['InvitationMailParked', 'InvitationMailReopened'];
  for (let after = START; ;) {
    const { events, position } = await eventStore.readAll({ after, filter: { types } });
    if (events.length === 0) return [...parked.values()];
    for (const stored of events) {
      const { type, data } = codec.decode(stored) as InvitationMailEvent;
      if (type === 'InvitationMailParked') parked.set(data.eventId, { ...data, at: stored.metadata.at });
      else parked.delete(data.eventId);
    }
    after = position;
  }
};

const readArguments = (): string | undefined => {
  try {
    return parseArgs({ options: { 'send-again': { type: 'string' } } }).values['send-again'];
  } catch (error) {
    // `parseArgs` throws a TypeError for an unknown option.
    throw error instanceof TypeError ? new UsageError(`${error.message}\n${usage}`) : error;
  }
};

/**
 * `npm run mails:parked`: lists the parked mails; with `--send-again` the workers try them again.
 */
await runScript(async ({ engine, stores }) => {
  const requested = readArguments();
  const parked = await parkedMails(stores);
  const chosen = parked.filter(({ eventId }) => requested === undefined || requested === 'all' || requested === eventId);
  if (chosen.length === 0 && requested !== undefined && requested !== 'all') throw new UsageError(`No parked mail ${requested}`);
  for (const { websiteId, invitationId, eventId, reason, at } of chosen) {
    if (requested !== undefined) {
      const context = { commandId: engine.ids.commandId(), actor, requestId: actor.subject };
      const mail = { websiteId, invitationId, eventId };
      await engine.handle(invitationMailProcess, { type: 'ReopenMail', ...mail }, context);
    }
    const what = requested === undefined ? reason : 'will be sent again';
    process.stdout.write(`${eventId}  ${at}  website ${websiteId}, invitation ${invitationId}: ${what}\n`);
  }
  if (chosen.length === 0) process.stdout.write('No mail is parked.\n');
});
