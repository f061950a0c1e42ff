import { Type } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { Time } from '../fields.js';

const ofWebhook = { websiteId: Type.String(), webhookId: Type.String(), topic: Type.String() };

/**
 * Stream `webhook-<websiteId>-<hash of the webhook id>`: inbox and process of one webhook
 * (docs/adr/0013-commerce-webhooks.md). The body may hold personal data of a shop's customers, so it
 * waits in the vault (docs/adr/0020-payloads-of-webhooks.md).
 */
export const webhookEvents = {
  /** `triggeredAt`: when it happened at the commerce platform. */
  WebhookReceived: event(Type.Object({ ...ofWebhook, shopDomain: Type.String(), triggeredAt: Time })),
  /** Received, but its topic is not handled. */
  WebhookIgnored: event(Type.Object({ ...ofWebhook, shopDomain: Type.String() })),
  WebhookProcessed: event(Type.Object(ofWebhook)),
  WebhookFailed: event(
    Type.Object({ ...ofWebhook, attempt: Type.Integer(), error: Type.String(), nextAttemptAt: Type.Optional(Time) }),
  ),
  WebhookParked: event(Type.Object({ ...ofWebhook, reason: Type.String() })),
  /** A parked webhook is to be processed again. */
  WebhookReopened: event(Type.Object(ofWebhook)),
};

/** Stream `webhook-content-<websiteId>-<blind index of topic and body>`; of the body alone in logs of earlier builds. */
export const webhookContentEvents = {
  /** The webhook that came first with this topic and body: others with the same are taken for it. */
  WebhookContentClaimed: event(Type.Object({ websiteId: Type.String(), content: Type.String(), webhookId: Type.String() })),
};

export type WebhookContentEvent = EventOf<typeof webhookContentEvents>;

export type WebhookEvent = EventOf<typeof webhookEvents>;
