import { runParkedScript } from './parked.js';
import { optionsOf } from './script.js';

/** `npm run webhooks:parked`: lists the parked webhooks; with `--replay` the workers process them again. */
await runParkedScript({
  subject: 'webhooks:parked',
  noun: 'webhook',
  willBe: 'will be processed again',
  readRequested: () => optionsOf('parkedWebhooks', { replay: { type: 'string' } }).replay,
  describe: ({ kind, of }) => (kind === 'webhook' ? `website ${of.websiteId}, ${of.topic}` : undefined),
});
