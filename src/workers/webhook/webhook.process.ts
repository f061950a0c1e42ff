import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { Recorded } from '../../events/envelope.js';
import type { WebhookEvent } from '../../events/webhook/webhook.events.js';
import { failed, noAttempts, retryAt, type Attempts, type Fault } from '../attempts.js';
import { webhookStream } from '../../events/webhook/webhook.stream.js';
import type { StreamFold } from '../../events/fold.js';

/** Stream `webhook-<websiteId>-<hash of the webhook id>`. */
export type WebhookState = { readonly stage: 'none' } | { readonly stage: 'ignored'; readonly shopDomain: string } | KeptWebhook;

export interface KeptWebhook {
  readonly stage: 'open' | 'processed' | 'parked';
  readonly topic: string;
  readonly shopDomain: string;
  readonly triggeredAt: string;
  readonly attempts: Attempts;
}

export interface WebhookName {
  readonly websiteId: string;
  readonly webhookId: string;
  /** In the form `app/uninstalled`. */
  readonly topic: string;
}

/** What comes late, twice, or from two workers at once changes nothing. */
export type WebhookCommand = AnyCommand &
  WebhookName &
  (
    | {
        readonly type: 'ReceiveWebhook';
        readonly shopDomain: string;
        /** ISO 8601 UTC with milliseconds; absent: now. */
        readonly triggeredAt?: string | undefined;
      }
    | { readonly type: 'RecordProcessed' }
    /** `jitter`: a fraction in [0, 1). */
    | { readonly type: 'RecordFailure'; readonly attempt: number; readonly fault: Fault; readonly jitter: number }
    /** A parked one is tried anew. */
    | { readonly type: 'ReopenWebhook' }
  );

export const uninstalled = 'app/uninstalled';

/** What a shop's owner or the law asks for; these come also after the app was uninstalled. */
const compliance: readonly string[] = ['customers/data_request', 'customers/redact', 'shop/redact'];

export const isCompliance = (topic: string): boolean => compliance.includes(topic);

/** `APP_UNINSTALLED`, as the commerce platform's GraphQL API calls it, is `app/uninstalled`. */
export const topicOf = (text: string): string => {
  const topic = text.toLowerCase();
  return topic.includes('/') ? topic : topic.replace('_', '/');
};

const evolve = (state: WebhookState, event: Recorded<WebhookEvent>): WebhookState => {
  if (event.type === 'WebhookReceived') {
    const { topic, shopDomain, triggeredAt } = event.data;
    return { stage: 'open', topic, shopDomain, triggeredAt, attempts: noAttempts };
  }
  if (event.type === 'WebhookIgnored') return { stage: 'ignored', shopDomain: event.data.shopDomain };
  if (state.stage === 'none' || state.stage === 'ignored') return state;
  switch (event.type) {
    case 'WebhookProcessed':
      return { ...state, stage: 'processed' };
    case 'WebhookFailed':
      return { ...state, attempts: { ...failed(state.attempts, event), attempt: event.data.attempt } };
    case 'WebhookParked':
      return { ...state, stage: 'parked' };
    case 'WebhookReopened':
      return { ...state, stage: 'open', attempts: { ...noAttempts, attempt: state.attempts.attempt } };
    default:
      return state;
  }
};

const decide = (command: WebhookCommand, state: WebhookState): readonly WebhookEvent[] => {
  const { websiteId, webhookId, topic, at } = command;
  const webhook = { websiteId, webhookId, topic };
  switch (command.type) {
    case 'ReceiveWebhook': {
      if (state.stage !== 'none') return [];
      const { shopDomain, triggeredAt = at } = command;
      const isHandled = topic === uninstalled || isCompliance(topic);
      return isHandled
        ? [{ type: 'WebhookReceived', data: { ...webhook, shopDomain, triggeredAt } }]
        : [{ type: 'WebhookIgnored', data: { ...webhook, shopDomain } }];
    }
    case 'RecordProcessed':
      return state.stage === 'open' ? [{ type: 'WebhookProcessed', data: webhook }] : [];
    case 'RecordFailure': {
      const { attempt, fault, jitter } = command;
      if (state.stage !== 'open' || attempt !== state.attempts.attempt + 1) return [];
      const { error } = fault;
      const nextAttemptAt = retryAt(state.attempts, fault, at, jitter);
      const again = nextAttemptAt === undefined ? {} : { nextAttemptAt };
      const failure: WebhookEvent = { type: 'WebhookFailed', data: { ...webhook, attempt, error, ...again } };
      return nextAttemptAt === undefined ? [failure, { type: 'WebhookParked', data: { ...webhook, reason: error } }] : [failure];
    }
    case 'ReopenWebhook':
      return state.stage === 'parked' ? [{ type: 'WebhookReopened', data: webhook }] : [];
    default:
      return command satisfies never;
  }
};

export const webhookFold: StreamFold<WebhookState, WebhookEvent, { readonly websiteId: string; readonly webhookId: string }> = {
  name: 'webhook',
  stream: webhookStream,
  initialState: { stage: 'none' },
  evolve,
};

/** Inbox and process of one webhook in one: what was received is in the log before anybody is told so. */
export const webhookProcess: Decider<WebhookState, WebhookCommand, WebhookEvent> = { ...webhookFold, decide };
