import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { Refused, refusals, type Violation } from '../../../commands/refusal.js';
import type { CommandContext } from '../../../commands/handleCommand.js';
import type { Engine } from '../../../engine.js';
import type { Commerce } from '../../../integrations/commerce/port.js';
import { copyWith } from '../../../platform/copyWith.js';
import { isTime, utcTime } from '../../../platform/times.js';
import { websiteProjection } from '../../../projections/website/website.projection.js';
import {
  claimedTopicOf,
  isCompliance,
  isHandled,
  isRecorded,
  PAYLOAD_KEPT_MS,
  payloadNameOf,
  topicOf,
  uninstalled,
  webhookContentDecider,
  webhookContentFold,
  webhookFold,
  webhookProcess,
  type WebhookContentState,
  type WebhookName,
} from '../../../workers/webhook/webhook.process.js';
import { webhookStream } from '../../../events/webhook/webhook.stream.js';
import { httpErrors } from '../../errors.js';
import { Id } from '../../schemas.js';
import { route, type Route, type RouteRequest, type RouteTag } from '../../route.js';
import { type ServicesState, servicesFold } from '../../../events/service/service.state.js';
import type { Reader } from '../../../projections/reader.js';
import type { RecordStore } from '../../../projections/store/readModelStore.js';
import type { Metrics } from '../../metrics.js';

const webhookTag: RouteTag = { name: 'Webhooks', description: 'Webhooks of the commerce platform.' };

const maxLength = 255;
const headerText = (description: string) => Type.String({ minLength: 1, maxLength, description });

const headers = Type.Object({
  'X-Shopify-Hmac-Sha256': headerText('HMAC-SHA256 of the body as it is sent, in base64.'),
  'X-Shopify-Shop-Domain': headerText('The shop that it is about.'),
  'X-Shopify-Topic': headerText('What has happened: `app/uninstalled`, `customers/data_request`, …'),
  'X-Shopify-Webhook-Id': headerText('The same for each delivery of one webhook.'),
  'X-Shopify-Triggered-At': Type.Optional(headerText('When it happened.')),
});

/** What is wrong with the headers that name a webhook. */
const violationsOf = (header: RouteRequest['header']): readonly Violation[] =>
  ['X-Shopify-Webhook-Id', 'X-Shopify-Topic'].flatMap((field) => {
    const { length } = header(field.toLowerCase()) ?? '';
    if (length === 0) return [{ field, issue: 'is required' }];
    return length > maxLength ? [{ field, issue: 'is too long' }] : [];
  });

/** Whether the shop may send this website the topic (api.md, "Commerce webhook"). */
const maySend = ({ services, shops }: ServicesState, shopDomain: string, topic: string): boolean =>
  services.some((service) => service.shopDomain === shopDomain) || (isCompliance(topic) && shops.includes(shopDomain));

/** Where webhooks that nothing is done about are remembered, by the name of the stream that they do not get. */
const ignored = 'ignoredWebhooks';
/** As long as the commerce platform repeats a webhook. */
const IGNORED_KEPT_MS = 48 * 3_600_000;

type Sent = WebhookName & { readonly shopDomain: string; readonly triggeredAt: string | undefined };

export interface WebhookRouteParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly commerce: Commerce;
  readonly records: RecordStore;
  readonly metrics: Metrics;
}

/**
 * Webhooks of the commerce platform about the shops of websites (specification, "Endpoints", rule
 * 8).
 */
export const webhookRoutes = ({ engine, reader, commerce, records, metrics }: WebhookRouteParts): readonly Route[] => {
  /** Of the very webhook that has taken the shop away, or of one that came before it. */
  const isRepetition = async ({ websiteId, webhookId }: WebhookName, shopDomain: string): Promise<boolean> => {
    const { state: known } = await engine.state(webhookFold, { websiteId, webhookId });
    if (known.stage !== 'none' && known.shopDomain === shopDomain) return true;
    const remembered = await records.get(ignored, webhookStream.name({ websiteId, webhookId }));
    return remembered?.shopDomain === shopDomain;
  };

  /**
   * @param isNamed whether its headers name it
   * @throws Refused: 404 when the website is unknown, which only a caller with the secret learns;
   *   403 for another shop
   */
  const checkShop = async (webhook: WebhookName, shopDomain: string, isNamed: boolean): Promise<void> => {
    const { websiteId, topic } = webhook;
    const { state } = await engine.state(servicesFold, { websiteId });
    if (maySend(state, shopDomain, topic)) return;
    if (isNamed && (await isRepetition(webhook, shopDomain))) return;
    const { document } = await reader.read(websiteProjection, websiteId);
    throw new Refused(document === null ? refusals.websiteNotFound(websiteId) : refusals.otherShop());
  };

  /**
   * What an earlier build recorded of the body, which it claimed whatever the topic: a claim for a
   * webhook that is known to be of another topic says nothing of this one.
   */
  const claimedBefore = async (acting: Engine, sent: Sent, hash: string): Promise<WebhookContentState> => {
    const { websiteId, topic } = sent;
    const { state } = await acting.state(webhookContentFold, { websiteId, content: acting.blindIndex(hash) });
    if (state.webhookId === undefined) return state;
    const { state: known } = await acting.state(webhookFold, { websiteId, webhookId: state.webhookId });
    const isOther = 'topic' in known && claimedTopicOf(known.topic) !== claimedTopicOf(topic);
    return isOther ? {} : state;
  };

  /** The id under which the body came first for the topic; null when that is so long ago that nobody knows it. */
  const firstIdOf = async (acting: Engine, sent: Sent, payload: Uint8Array, context: CommandContext): Promise<string | null> => {
    const { websiteId, topic, webhookId } = sent;
    const hash = createHash('sha256').update(payload).digest('hex');
    const before = await claimedBefore(acting, sent, hash);
    if (before.isOld === true) return null;
    if (before.webhookId !== undefined) return before.webhookId;
    const content = acting.blindIndex(`${claimedTopicOf(topic)} ${hash}`);
    const claim = { type: 'ClaimWebhookContent', websiteId, content, webhookId } as const;
    const { state } = await acting.handle(webhookContentDecider, claim, context);
    return state.isOld === true ? null : (state.webhookId ?? webhookId);
  };

  /**
   * Queues it, unless the same body was queued before for the topic under whatever id. The payload is stored
   * before the event, which wakes the workers; without the event it expires.
   */
  const queue = async (acting: Engine, sent: Sent, payload: Uint8Array, context: CommandContext): Promise<void> => {
    const webhookId = await firstIdOf(acting, sent, payload, context);
    if (webhookId === null) return;
    const webhook = { ...sent, webhookId };
    if ((await acting.state(webhookFold, webhook)).state.stage !== 'none') return;
    const name = payloadNameOf(webhook);
    if (isHandled(sent.topic)) await acting.vault.storeSecret(name, payload, acting.clock.now() + PAYLOAD_KEPT_MS);
    const { state } = await acting.handle(webhookProcess, { type: 'ReceiveWebhook', ...webhook }, context);
    // A worker was done with another delivery of it before the payload of this one was stored.
    if (state.stage === 'processed') await acting.vault.deleteSecret(name);
  };

  /** Counts it, and remembers whose it was until it comes no more. The log learns nothing of it. */
  const ignore = async (webhook: Sent): Promise<void> => {
    metrics.webhookIgnored();
    const { shopDomain } = webhook;
    try {
      await records.put(ignored, webhookStream.name(webhook), { shopDomain }, engine.clock.now() + IGNORED_KEPT_MS);
    } catch (err) {
      // Only its repetition after the shop was detached is answered otherwise.
      engine.logger.warn({ err }, 'an ignored webhook could not be remembered');
    }
  };

  return [
    route({
      method: 'post',
      path: '/webhooks/commerce',
      operationId: 'receiveCommerceWebhook',
      summary: 'Take a webhook of the commerce platform, to be processed later',
      description:
        'Checks the signature over the body as it was sent, then the shop, stores the webhook and answers at once. The same webhook again is answered with 200 and processed once. One of a topic that nothing is done about is counted, and not stored.',
      tag: webhookTag,
      scope: 'installation',
      access: 'public',
      faults: ['webhooks_not_configured'],
      query: Type.Object({ websiteId: Id() }),
      raw: headers,
      refusals: ['invalid_signature', 'invalid_headers', 'other_shop', 'website_not_found'],
      answers: { 200: { description: 'It and its payload are stored, or were before.', schema: Type.Object({}) } },
      checkHead: (header) => {
        if (!commerce.acceptsWebhooks) throw httpErrors.noWebhooks();
        if (header('x-shopify-hmac-sha256') === undefined) throw new Refused(refusals.invalidSignature());
      },
      act: async ({ raw, header, query: { websiteId }, context }, acting) => {
        if (!commerce.isSignatureValid(raw, header('x-shopify-hmac-sha256') ?? ''))
          throw new Refused(refusals.invalidSignature());
        const named = {
          websiteId,
          webhookId: header('x-shopify-webhook-id') ?? '',
          topic: topicOf(header('x-shopify-topic') ?? ''),
        };
        const violations = violationsOf(header);
        const shopDomain = (header('x-shopify-shop-domain') ?? '').toLowerCase();
        // The headers are not signed: where the body says whose it is, that counts.
        const shopInBody = isHandled(named.topic) ? commerce.shopIn(raw) : null;
        if (shopInBody !== null && shopInBody !== shopDomain) throw new Refused(refusals.otherShop());
        await checkShop(named, shopDomain, violations.length === 0);
        if (violations.length > 0) throw httpErrors.invalid('headers', violations);
        // The topic is not signed: a compliance webhook sent again as this one would detach the shop.
        if (named.topic === uninstalled && commerce.isComplianceBody(raw)) {
          const issue = `is ${uninstalled}, but the body is that of a compliance webhook`;
          throw httpErrors.invalid('headers', [{ field: 'X-Shopify-Topic', issue }]);
        }
        const at = header('x-shopify-triggered-at');
        const triggeredAt = at !== undefined && isTime(at) ? utcTime(at) : undefined;
        const webhook: Sent = copyWith(named, { shopDomain, triggeredAt });
        if (isRecorded(webhook.topic)) await queue(acting, webhook, raw, context);
        return webhook;
      },
      answer: async (_, webhook) => {
        if (!isRecorded(webhook.topic)) await ignore(webhook);
        return { body: {} };
      },
    }),
  ];
};
