import type { CommandContext } from '../../commands/handleCommand.js';
import { serviceDecider } from '../../commands/service/service.decider.js';
import type { Engine } from '../../engine.js';
import type { Recorded } from '../../events/envelope.js';
import type { WebhookEvent } from '../../events/webhook/webhook.events.js';
import { webhookStream } from '../../events/webhook/webhook.stream.js';
import { createContextOf } from '../contextOf.js';
import { attemptUntilDone } from '../leasedTask.js';
import { recordFailure } from '../taskFault.js';
import type { ReactionContext } from '../reactionContext.js';
import type { CreateReactor } from '../reactions.js';
import type { Worker } from '../worker.js';
import {
  isCompliance,
  payloadNameOf,
  uninstalled,
  webhookFold,
  webhookProcess,
  type RecordedWebhook,
} from './webhook.process.js';

type Requested = Recorded<Extract<WebhookEvent, { type: 'WebhookReceived' | 'WebhookReopened' }>>;

/**
 * Processes webhooks of the commerce platform. Any number of these may run on the same stores:
 * processing twice does no harm, so no lease is needed, and the outcome is recorded once.
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
  const contextOf = createContextOf(engine, 'commerceWebhooks');

  const act = async (
    websiteId: string,
    { topic, shopDomain, triggeredAt }: RecordedWebhook,
    context: CommandContext,
  ): Promise<void> => {
    if (topic !== uninstalled) return;
    const command = { type: 'RecordUninstall', websiteId, shopDomain, triggeredAt } as const;
    const { events } = await engine.handle(serviceDecider, command, context);
    for (const { data } of events) await vault.deleteSecret(data.serviceId);
  };

  const process = async (event: Requested, open: RecordedWebhook): Promise<void> => {
    const { websiteId, webhookId, topic } = event.data;
    const webhook = { websiteId, webhookId, topic };
    const { shopDomain, attempts } = open;
    const payload = await vault.secret(payloadNameOf(webhook));
    let compliance: Readonly<Record<string, unknown>>;
    try {
      compliance = isCompliance(topic) ? complianceOf(payload) : {};
      await act(websiteId, open, contextOf(event));
    } catch (error) {
      const failure = recordFailure(error, random.fraction());
      const attempt = attempts.attempt + 1;
      logger.warn({ err: error, ...webhook, attempt }, 'a commerce webhook could not be processed');
      await engine.handle(webhookProcess, { ...webhook, ...failure, attempt }, contextOf(event));
      return;
    }
    const { events } = await engine.handle(webhookProcess, { type: 'RecordProcessed', ...webhook }, contextOf(event));
    // Only the worker that recorded the outcome logs it.
    if (events.length > 0 && isCompliance(topic)) {
      logger.info({ ...webhook, shopDomain, ...compliance }, 'a compliance webhook was received');
    }
  };

  /** Also after a worker died before it did. */
  const deletePayload = async (name: string): Promise<void> => {
    if ((await vault.secret(name)) !== null) await vault.deleteSecret(name);
  };

  const processUntilDone = async (event: Requested, context: ReactionContext): Promise<void> => {
    await attemptUntilDone({
      clock,
      context,
      worker,
      load: async () => {
        const { state } = await engine.state(webhookFold, event.data);
        return state.stage === 'open' ? state : null;
      },
      attempt: (open) => process(event, open),
    });
    const { state } = await engine.state(webhookFold, event.data);
    if (state.stage === 'processed') await deletePayload(payloadNameOf(event.data));
  };

  return createReactor({
    name: 'commerceWebhooks',
    streams: [webhookStream],
    on: { WebhookReceived: processUntilDone, WebhookReopened: processUntilDone },
  });
};

/**
 * What the log says of a compliance webhook for whoever has to answer it: the ids of the shop and of
 * the request, and how many orders it names, but nothing of the customer.
 */
const complianceOf = (payload: Uint8Array | null): Readonly<Record<string, unknown>> => {
  const body = payload === null ? {} : fieldsOf(payload);
  const orders = body.orders_requested ?? body.orders_to_redact;
  return {
    ...(typeof body.shop_id === 'number' && { shopId: body.shop_id }),
    ...(typeof body.data_request?.id === 'number' && { dataRequestId: body.data_request.id }),
    ...(Array.isArray(orders) && { orders: orders.length }),
  };
};

interface ComplianceFields {
  readonly shop_id?: unknown;
  readonly data_request?: { readonly id?: unknown } | null;
  readonly orders_requested?: unknown;
  readonly orders_to_redact?: unknown;
}

const fieldsOf = (payload: Uint8Array): ComplianceFields => {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(payload).toString());
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    // A signed body that is no JSON is acknowledged all the same. The error would quote it in the log.
    return {};
  }
};
