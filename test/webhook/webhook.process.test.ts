import { describe, expect, test } from '@jest/globals';
import type { WebhookContentEvent, WebhookEvent } from '../../src/events/webhook/webhook.events.js';
import {
  claimedTopicOf,
  isRecorded,
  topicOf,
  webhookContentDecider,
  webhookProcess,
  type WebhookCommand,
} from '../../src/workers/webhook/webhook.process.js';
import { failUntilGivenUp } from '../support/retries.js';
import { earlier, expectRepeatable, given as givenEvents, now, type Timeless } from '../support/given.js';

const webhook = { websiteId: 'w1', webhookId: 'h1', topic: 'app/uninstalled' } as const;
const shopDomain = 'corner-bakery.myshopify.com';
const receive = { type: 'ReceiveWebhook', ...webhook, shopDomain, triggeredAt: earlier } as const;
const received: WebhookEvent = { type: 'WebhookReceived', data: { ...webhook, shopDomain, triggeredAt: earlier } };
const processed: WebhookEvent = { type: 'WebhookProcessed', data: webhook };
const reopened: WebhookEvent = { type: 'WebhookReopened', data: webhook };
const fault = { error: 'Broken', transient: true, retryAfterMs: 0 };
const fail = (attempt: number) => ({ type: 'RecordFailure', ...webhook, attempt, fault, jitter: 0 }) as const;
const failedAt = (attempt: number, nextAttemptAt?: string): WebhookEvent => ({
  type: 'WebhookFailed',
  data: { ...webhook, attempt, error: 'Broken', ...(nextAttemptAt !== undefined && { nextAttemptAt }) },
});
const parked: WebhookEvent = { type: 'WebhookParked', data: { ...webhook, reason: 'Broken' } };
/** After each it waited for a day, as long as it is retried. */
const afterDays = [received, ...[1, 2, 3, 4].map((attempt) => failedAt(attempt, now))];

const given = (events: readonly WebhookEvent[] = []) => givenEvents(webhookProcess, events);

describe('a webhook', () => {
  test('is received once', () => {
    given().when(receive).then([received]);
    given([received])
      .when({ ...receive, shopDomain: 'other.myshopify.com' })
      .then([]);
  });

  test('that does not say when it was triggered was so when it came', () => {
    const { triggeredAt: _, ...others } = receive;
    given()
      .when(others)
      .then([{ type: 'WebhookReceived', data: { ...webhook, shopDomain, triggeredAt: now } }]);
  });

  test.each(['2026-01-02T00:00:00.001Z', '+010000-01-01T00:00:00.000Z'])(
    'triggered in the future, at %s, was so when it came',
    (at) => {
      given()
        .when({ ...receive, triggeredAt: at })
        .then([{ type: 'WebhookReceived', data: { ...webhook, shopDomain, triggeredAt: now } }]);
    },
  );

  test.each(['customers/data_request', 'customers/redact', 'shop/redact'])('of %s is to be processed', (topic) => {
    const { outcome } = given().when({ ...receive, ...webhook, topic });
    expect(outcome).toMatchObject([{ type: 'WebhookReceived' }]);
  });

  test('of another topic is recorded as ignored, once', () => {
    const other = { ...webhook, topic: 'orders/create' };
    const ignored: WebhookEvent = { type: 'WebhookIgnored', data: { ...other, shopDomain } };
    given()
      .when({ ...receive, ...other })
      .then([ignored]);
    given([ignored])
      .when({ type: 'RecordProcessed', ...other })
      .then([]);
  });

  test('is processed once', () => {
    given([received])
      .when({ type: 'RecordProcessed', ...webhook })
      .then([processed]);
    given()
      .when({ type: 'RecordProcessed', ...webhook })
      .then([]);
  });

  test('that fails is tried again after a pause, for 24 hours, and then parked', () => {
    given([received])
      .when(fail(1))
      .then([failedAt(1, '2026-01-02T00:00:00.500Z')]);
    const { pauses, retriedForMs, last } = failUntilGivenUp(webhookProcess, [received], { fail });
    expect(retriedForMs).toBe(24 * 3_600_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(15 * 60_000);
    expect(last).toStrictEqual([failedAt(pauses.length + 1), parked]);
  });

  test('has one failure for each attempt, from whichever worker', () => {
    given([received, failedAt(1, now)])
      .when(fail(1))
      .then([]);
    given([received, processed]).when(fail(1)).then([]);
  });

  test('that is parked is tried again on request', () => {
    const gaveUp = [...afterDays, failedAt(5), parked];
    given(gaveUp)
      .when({ type: 'RecordProcessed', ...webhook })
      .then([]);
    given(gaveUp)
      .when({ type: 'ReopenWebhook', ...webhook })
      .then([reopened]);
    given([...gaveUp, reopened])
      .when({ type: 'RecordProcessed', ...webhook })
      .then([processed]);
    const { outcome } = given([...gaveUp, reopened]).when(fail(6));
    expect(outcome).toMatchObject([{ type: 'WebhookFailed', data: { attempt: 6, nextAttemptAt: expect.any(String) } }]);
  });

  test.each<[string, readonly WebhookEvent[], Timeless<WebhookCommand>]>([
    ['receive', [], receive],
    ['process', [received], { type: 'RecordProcessed', ...webhook }],
    ['fail', [received], fail(1)],
    ['park', afterDays, fail(5)],
    ['reopen', [...afterDays, failedAt(5), parked], { type: 'ReopenWebhook', ...webhook }],
  ])('%s: the same again changes nothing', (_, events, command) => {
    expectRepeatable(webhookProcess, events, command);
  });
});

test('a body of a topic belongs to the webhook that came first with it', () => {
  const claim = { type: 'ClaimWebhookContent', websiteId: 'w1', content: 'c1', webhookId: 'h1' } as const;
  const claimed: WebhookContentEvent = {
    type: 'WebhookContentClaimed',
    data: { websiteId: 'w1', content: 'c1', webhookId: 'h1' },
  };
  givenEvents(webhookContentDecider, []).when(claim).then([claimed]);
  givenEvents(webhookContentDecider, [claimed])
    .when({ ...claim, webhookId: 'h2' })
    .then([]);
  expectRepeatable(webhookContentDecider, [], claim);
  // Whose it was is forgotten; that it was somebody's is not.
  expect(webhookContentDecider.decide({ ...claim, at: now }, webhookContentDecider.droppedState ?? {})).toEqual([]);
});

test.each([
  ['app/uninstalled', 'app/uninstalled', true],
  // The same body sent again as an uninstallation would take the service away.
  ['shop/update', 'app/uninstalled', true],
  ['shop/redact', 'shop/redact', true],
  ['orders/create', 'orders/create', false],
])('a body of %s is claimed for %s; recorded: %s', (topic, claimed, recorded) => {
  expect([claimedTopicOf(topic), isRecorded(topic)]).toEqual([claimed, recorded]);
});

test.each([
  ['APP_UNINSTALLED', 'app/uninstalled'],
  ['app/uninstalled', 'app/uninstalled'],
  ['CUSTOMERS_DATA_REQUEST', 'customers/data_request'],
  ['customers/data_request', 'customers/data_request'],
  ['odd', 'odd'],
])('topic %s is %s', (text, topic) => {
  expect(topicOf(text)).toBe(topic);
});
