import { runParkedScript } from './parked.js';
import { optionsOf } from './script.js';

/** `npm run mails:parked`: lists the parked mails; with `--send-again` the workers try them again. */
await runParkedScript({
  subject: 'mails:parked',
  noun: 'mail',
  willBe: 'will be sent again',
  readRequested: () => optionsOf('parkedMails', { 'send-again': { type: 'string' } })['send-again'],
  describe: ({ kind, of }) => (kind === 'mail' ? `website ${of.websiteId}, invitation ${of.invitationId}` : undefined),
});
