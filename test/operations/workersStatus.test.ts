import { expect, test } from '@jest/globals';
import { invitationMailProcess } from '../../src/workers/invitationMail/invitationMail.process.js';
import { reactionFold, reactionProcess } from '../../src/workers/reaction/reaction.process.js';
import { webhookProcess } from '../../src/workers/webhook/webhook.process.js';
import { eventually } from '../support/eventually.js';
import { someAdmin } from '../support/given.js';
import { onFolder } from '../support/onFolder.js';
import { operate, startServer } from '../support/server.js';
import { shopDomain } from '../support/shopWebhooks.js';
import { temporaryFolder } from '../support/temporary.js';

const fault = { error: 'It never works', transient: false, retryAfterMs: 0 };
const webhook = { websiteId: 'w1', webhookId: 'h1', topic: 'customers/redact' };
const mail = { websiteId: 'w1', invitationId: 'i1', eventId: 'm1' };

/** A parked webhook and a parked mail, and a reaction to the webhook that fails. */
const park = (folder: string): Promise<string> =>
  onFolder(folder, async (engine) => {
    const context = () => ({ commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r' });
    await engine.handle(webhookProcess, { type: 'ReceiveWebhook', ...webhook, shopDomain }, context());
    await engine.handle(webhookProcess, { type: 'RecordFailure', ...webhook, attempt: 1, fault, jitter: 0 }, context());
    await engine.handle(invitationMailProcess, { type: 'StartAttempt', ...mail, attempt: 1, worker: 'A' }, context());
    await engine.handle(invitationMailProcess, { type: 'RecordFailure', ...mail, attempt: 1, fault, jitter: 0 }, context());
    const { events } = await engine.eventStore.readAll({ after: 0n, filter: { types: ['WebhookReceived'] } });
    const [received] = events;
    if (received === undefined) throw new Error('no webhook was received');
    const { id: eventId, type: eventType, stream, revision, position } = received;
    const reaction = { worker: 'commerceWebhooks', eventId, eventType, stream, revision: `${revision}`, position: `${position}` };
    await engine.handle(reactionProcess, { type: 'RecordReactionFailure', ...reaction, reason: 'Error at x.ts:1' }, context());
    return eventId;
  });

test('one command shows how far workers are behind and what is parked, and has it tried again; so do metrics', async () => {
  const folder = temporaryFolder();
  const status = (...args: string[]) => operate(folder, 'workersStatus', args);
  const eventId = await park(folder);

  const lines = (await status()).split('\n');
  expect(lines[0]).toMatch(/^name +position +behind \(ms\)$/);
  expect(lines).toContainEqual(expect.stringMatching(/^invitationMail +0 +0$/));
  expect(lines).toContainEqual(expect.stringMatching(/^commerceWebhooks +0 +[1-9]\d*$/));
  expect(lines.slice(-3)).toStrictEqual([
    expect.stringMatching(
      /^commerceWebhooks {2}parked {2}h1 {2}20\S+Z {2}webhook customers\/redact, website w1: It never works$/,
    ),
    expect.stringMatching(/^invitationMail {2}parked {2}m1 {2}20\S+Z {2}mail of invitation i1, website w1: It never works$/),
    expect.stringMatching(/ {2}failing .* reaction to WebhookReceived at position \d+, stream webhook-w1-\S+: Error at x\.ts:1$/),
  ]);
  await expect(status('--retry', 'none')).rejects.toThrow('Nothing with the id none is parked or fails');
  await expect(status('--again')).rejects.toThrow('Usage: npm run workers:status');

  expect(await status('--retry', eventId)).toMatch(/: will be tried again$/);
  const server = await startServer(folder);
  try {
    const metrics = async (): Promise<string> => (await fetch(`${server.address}/metrics`)).text();
    const before = await eventually('the parked webhook', async () => {
      const text = await metrics();
      return /^work_parked\{worker="commerceWebhooks"\} 1$/m.test(text) ? text : undefined;
    });
    expect(before).toMatch(/^work_parked\{worker="invitationMail"\} 1$/m);
    expect(before).toMatch(/^reactions_failing\{worker="commerceWebhooks"\} 0$/m);
    expect(before).toMatch(/^worker_lag_seconds\{worker="provisioning"\} 0$/m);
    expect((await status('--retry', 'all')).split('\n')).toHaveLength(2);
    await eventually('nothing is parked', async () => {
      const text = await metrics();
      const isDone =
        /^work_parked\{worker="commerceWebhooks"\} 0$/m.test(text) &&
        /^reactions_failing\{worker="commerceWebhooks"\} 0$/m.test(text);
      return isDone ? true : undefined;
    });
    const stages = await onFolder(folder, async (engine) => [
      (await engine.state(reactionFold, { worker: 'commerceWebhooks', eventId })).state.stage,
    ]);
    expect(stages).toStrictEqual(['none']);
  } finally {
    await server.kill('SIGTERM');
  }
});
