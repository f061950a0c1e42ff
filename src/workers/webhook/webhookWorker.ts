import type { CommandContext } from '../../commands/handleCommand.js';
import { serviceDecider } from '../../commands/service/service.decider.js';
import type { Engine } from '../../engine.js';
import type { Actor, Recorded } from '../../events/envelope.js';
import { type WebhookEvent } from '../../events/webhook/webhook.events.js';
import type { CreateReactor } from '../reactor.js';
import { attemptUntilDone, faultOf } from '../runAttempt.js';
import type { Worker } from '../worker.js';
import { isCompliance, uninstalled, webhookFold, webhookProcess, type KeptWebhook } from './webhook.process.js';

type Taken = Recorded<Extract<WebhookEvent, { type: 'WebhookReceived' | 'WebhookReopened' }>>;

const actor: Actor = { subject: 'commerceWebhooks', role: 'system', via: 'worker' };

/**
 * Does what webhooks of the commerce platform ask for. Any number of these may run on the same stores: what is done may be done twice
 * without harm, so that no lease is needed, and it is recorded once.
 */
export const createCommerceWebhooksWorker = ({
  engine,
  createReactor,
}: {
  engine: Engine;
  createReactor: CreateReactor;
}): Worker => {
  const { clock, ids, random, vault } = engine;
  const logger = engine.logger.child({ worker: 'commerceWebhooks' });
  const worker = ids.commandId();

  const act = async (
    websiteId: string,
    { topic, shopDomain, triggeredAt }: KeptWebhook,
    context: CommandContext,
  ): Promise<void> => {
    if (topic !== uninstalled) return;
    const command = { type: 'RecordUninstall', websiteId, shopDomain, triggeredAt } as const;
    const { events } = await engine.handle(serviceDecider, command, context);
    for (const { data } of events) await vault.destroySecret(data.serviceId);
  };

  const process = async ({ id, data, metadata }: Taken, open: KeptWebhook): Promise<void> => {
    const { websiteId, webhookId, topic } = data;
    const webhook = { websiteId, webhookId, topic };
    const { shopDomain, attempts } = open;
    const { requestId, correlationId } = metadata;
    const context = (): CommandContext => ({ commandId: ids.commandId(), actor, requestId, correlationId, causationId: id });
    try {
      await act(websiteId, open, context());
    } catch (error) {
      const fault = faultOf(error);
      const attempt = attempts.attempt + 1;
      logger.warn({ err: error, ...webhook, attempt }, 'a commerce webhook could not be processed');
      const command = { type: 'RecordFailure', ...webhook, attempt, fault, jitter: random.fraction() } as const;
      await engine.handle(webhookProcess, command, context());
      return;
    }
    const { events } = await engine.handle(webhookProcess, { type: 'RecordProcessed', ...webhook }, context());
    // By the one who recorded it.
    if (events.length > 0 && isCompliance(topic)) logger.info({ ...webhook, shopDomain }, 'a compliance webhook was received');
  };

  return createReactor({
    name: 'commerceWebhooks',
    filter: { streamPrefixes: ['webhook-'], types: ['WebhookReceived', 'WebhookReopened'] },
    keyOf: ({ stream }) => stream,
    react: async (event, turn) => {
      const taken = event as Taken;
      const look = async (): Promise<KeptWebhook | null> => {
        const { state } = await engine.state(webhookFold, taken.data);
        return state.stage === 'open' ? state : null;
      };
      await attemptUntilDone({ clock, worker, turn, look, attempt: (open) => process(taken, open) });
    },
  });
};
