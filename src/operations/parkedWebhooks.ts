import { parseArgs } from 'node:util';
import type { Stores } from '../compose/core.js';
import type { Actor } from '../events/envelope.js';
import { START } from '../events/store/eventStore.js';
import { type WebhookEvent } from '../events/webhook/webhook.events.js';
import { webhookProcess, type WebhookName } from '../workers/webhook/webhook.process.js';
import { runScript, UsageError } from './script.js';

const usage = 'Usage: npm run webhooks:parked -- [--replay <webhook id> | --replay all]';
const actor: Actor = { subject: 'webhooks:parked', role: 'system', via: 'worker' };

interface ParkedWebhook extends WebhookName {
  readonly reason: string;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** The parked webhooks, oldest first, read from the event log. */
const parkedWebhooks = async ({ eventStore, codec }: Stores): Promise<readonly ParkedWebhook[]> => {
  const parked = new Map<string, ParkedWebhook>();
  const types: readonly WebhookEvent['type'][] = ['WebhookParked', 'WebhookReopened'];
  for (let after = START; ;) {
    const { events, position } = await eventStore.readAll({ after, filter: { types } });
    if (events.length === 0) return [...parked.values()];
    for (const stored of events) {
      const { type, data } = codec.decode(stored) as WebhookEvent;
      if (type === 'WebhookParked') parked.set(stored.stream, { ...data, at: stored.metadata.at });
      else parked.delete(stored.stream);
    }
    after = position;
  }
};

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
  const parked = await parkedWebhooks(stores);
  const chosen = parked.filter(({ webhookId }) => requested === undefined || requested === 'all' || requested === webhookId);
  if (chosen.length === 0 && requested !== undefined && requested !== 'all')
    throw new UsageError(`No parked webhook ${requested}`);
  for (const { websiteId, webhookId, topic, reason, at } of chosen) {
    if (requested !== undefined) {
      const context = { commandId: engine.ids.commandId(), actor, requestId: actor.subject };
      const webhook = { websiteId, webhookId, topic };
      await engine.handle(webhookProcess, { type: 'ReopenWebhook', ...webhook }, context);
    }
    const what = requested === undefined ? reason : 'will be processed again';
    process.stdout.write(`${webhookId}  ${at}  website ${websiteId}, ${topic}: ${what}\n`);
  }
  if (chosen.length === 0) process.stdout.write('No webhook is parked.\n');
});
