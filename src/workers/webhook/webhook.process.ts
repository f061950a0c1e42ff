import type { AnyCommand, Decider } from '../../commands/decider.js';
import type { Recorded } from '../../events/envelope.js';
import type { WebhookContentEvent, WebhookEvent } from '../../events/webhook/webhook.events.js';
import { webhookContentStream, webhookStream } from '../../events/webhook/webhook.stream.js';
import type { StreamFold } from '../../events/fold.js';
import { attemptFailed, noAttempts, noAttemptsSince, type Attempts } from '../../events/attempts.js';
import { retryFor, type RecordFailure } from '../lease.js';

/** Stream `webhook-<websiteId>-<hash of the webhook id>`. */
export type WebhookState =
  { readonly stage: 'none' } | { readonly stage: 'ignored'; readonly shopDomain: string } | RecordedWebhook;

export interface RecordedWebhook {
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

/** Commands that are late, repeated, or from two workers at once change nothing. */
export type WebhookCommand = AnyCommand &
  WebhookName &
  (
    | {
        readonly type: 'ReceiveWebhook';
        readonly shopDomain: string;
        /** ISO 8601 UTC with milliseconds; absent, or in the future: now. */
        readonly triggeredAt?: string | undefined;
      }
    | { readonly type: 'RecordProcessed' }
    | (RecordFailure & { readonly attempt: number })
    /** A parked webhook is tried again. */
    | { readonly type: 'ReopenWebhook' }
  );

type Command<Type extends WebhookCommand['type']> = Extract<WebhookCommand, { type: Type }>;

/** How long a webhook is retried, in milliseconds. Then it is parked. */
const WEBHOOK_RETRY_MS = 24 * 3_600_000;

export const uninstalled = 'app/uninstalled';

/** Topics that the law requires; they arrive also after the app was uninstalled. */
const compliance: readonly string[] = ['customers/data_request', 'customers/redact', 'shop/redact'];

/** The payload's name among the secrets of the vault. */
export const payloadNameOf = (webhook: { readonly websiteId: string; readonly webhookId: string }): string =>
  webhookStream.name(webhook);

/**
 * How long a payload is stored at most, in milliseconds: as long as the webhook is retried, and 30
 * days after it was parked. It is deleted as soon as the webhook is processed.
 */
export const PAYLOAD_KEPT_MS = WEBHOOK_RETRY_MS + 30 * 86_400_000;

/** Its body is a shop, as that of an uninstallation. */
const shopChanged = 'shop/update';

/**
 * Whether a webhook is recorded. One that nothing is done about is not, unless somebody who has it
 * could send it again as one that is handled: only the body is signed.
 */
export const isRecorded = (topic: string): boolean => isHandled(topic) || topic === shopChanged;

/**
 * The topic that a body is claimed for. The body of a changed shop sent again as an uninstallation
 * would take the shop's service away, so both are one.
 */
export const claimedTopicOf = (topic: string): string => (topic === shopChanged ? uninstalled : topic);

/** Whether anything is done about the topic. */
export const isHandled = (topic: string): boolean => topic === uninstalled || isCompliance(topic);

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
      return { ...state, attempts: { ...attemptFailed(state.attempts, event), attempt: event.data.attempt } };
    case 'WebhookParked':
      return { ...state, stage: 'parked' };
    case 'WebhookReopened':
      return { ...state, stage: 'open', attempts: noAttemptsSince(state.attempts.attempt) };
    default:
      return state;
  }
};

const nameOf = ({ websiteId, webhookId, topic }: WebhookName): WebhookName => ({ websiteId, webhookId, topic });

const receive = (command: Command<'ReceiveWebhook'>, { stage }: WebhookState): readonly WebhookEvent[] => {
  if (stage !== 'none') return [];
  const { topic, shopDomain, at } = command;
  const { triggeredAt: claimed = at } = command;
  // The time is not signed: one in the future would take away what is attached until then.
  const triggeredAt = Date.parse(claimed) > Date.parse(at) ? at : claimed;
  const webhook = { ...nameOf(command), shopDomain };
  return isHandled(topic)
    ? [{ type: 'WebhookReceived', data: { ...webhook, triggeredAt } }]
    : [{ type: 'WebhookIgnored', data: webhook }];
};

const recordProcessed = (command: Command<'RecordProcessed'>, { stage }: WebhookState): readonly WebhookEvent[] =>
  stage === 'open' ? [{ type: 'WebhookProcessed', data: nameOf(command) }] : [];

const retry = retryFor(WEBHOOK_RETRY_MS, 15 * 60_000);

const recordFailure = (command: Command<'RecordFailure'>, state: WebhookState): readonly WebhookEvent[] => {
  const { attempt, fault } = command;
  // There is no lease: of two workers at the same attempt, the first outcome is recorded.
  if (state.stage !== 'open' || attempt !== state.attempts.attempt + 1) return [];
  const webhook = nameOf(command);
  const { error } = fault;
  const nextAttemptAt = retry(state.attempts, command);
  const again = nextAttemptAt === undefined ? {} : { nextAttemptAt };
  const failed: WebhookEvent = { type: 'WebhookFailed', data: { ...webhook, attempt, error, ...again } };
  return nextAttemptAt === undefined ? [failed, { type: 'WebhookParked', data: { ...webhook, reason: error } }] : [failed];
};

const reopen = (command: Command<'ReopenWebhook'>, { stage }: WebhookState): readonly WebhookEvent[] =>
  stage === 'parked' ? [{ type: 'WebhookReopened', data: nameOf(command) }] : [];

const decide = (command: WebhookCommand, state: WebhookState): readonly WebhookEvent[] => {
  switch (command.type) {
    case 'ReceiveWebhook':
      return receive(command, state);
    case 'RecordProcessed':
      return recordProcessed(command, state);
    case 'RecordFailure':
      return recordFailure(command, state);
    case 'ReopenWebhook':
      return reopen(command, state);
    default:
      return command satisfies never;
  }
};

export const webhookFold: StreamFold<WebhookState, WebhookEvent, { readonly websiteId: string; readonly webhookId: string }> = {
  name: 'webhook',
  stream: webhookStream,
  initialState: { stage: 'none' },
  droppedState: { stage: 'ignored', shopDomain: '' },
  evolve,
};

/** Inbox and process of one webhook: it is in the log before its receipt is acknowledged. */
export const webhookProcess: Decider<WebhookState, WebhookCommand, WebhookEvent> = { ...webhookFold, decide };

/** Which webhook a body of a topic belongs to. */
export interface WebhookContentState {
  readonly webhookId?: string;
  /** It was one's, and nobody knows whose: it came long ago. */
  readonly isOld?: true;
}

/** Changes nothing when another webhook came first with the body. */
export type ClaimWebhookContent = AnyCommand & {
  readonly type: 'ClaimWebhookContent';
  readonly websiteId: string;
  /** The blind index of topic and body. */
  readonly content: string;
  readonly webhookId: string;
};

type WebhookContentKey = { readonly websiteId: string; readonly content: string };

export const webhookContentFold: StreamFold<WebhookContentState, WebhookContentEvent, WebhookContentKey> = {
  name: 'webhook-content',
  stream: webhookContentStream,
  initialState: {},
  droppedState: { isOld: true },
  evolve: (_state, { data: { webhookId } }) => ({ webhookId }),
};

/**
 * Only the body is signed, and not the webhook's id: whoever has one delivery could send it again
 * under another id.
 */
export const webhookContentDecider: Decider<WebhookContentState, ClaimWebhookContent, WebhookContentEvent> = {
  ...webhookContentFold,
  decide: ({ websiteId, content, webhookId }, state) =>
    state.webhookId === undefined && state.isOld === undefined
      ? [{ type: 'WebhookContentClaimed', data: { websiteId, content, webhookId } }]
      : [],
};
