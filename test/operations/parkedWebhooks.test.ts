import { expect, test } from '@jest/globals';
import { webhookProcess } from '../../src/workers/webhook/webhook.process.js';
import { eventually } from '../support/eventually.js';
import { someAdmin } from '../support/given.js';
import { onFolder } from '../support/onFolder.js';
import { operate, startServer } from '../support/server.js';
import { shopDomain } from '../support/shopWebhooks.js';
import { temporaryFolder } from '../support/temporary.js';

const websiteId = 'w1';
const fault = { error: 'The vault is closed', transient: false, retryAfterMs: 0 };

/** The state after an attempt of a worker that failed for good. */
const park = (folder: string, webhookId: string): Promise<void> =>
  onFolder(folder, async (engine) => {
    const webhook = { websiteId, webhookId, topic: 'customers/redact' };
    const commands = [
      { type: 'ReceiveWebhook', ...webhook, shopDomain },
      { type: 'RecordFailure', ...webhook, attempt: 1, fault, jitter: 0 },
    ] as const;
    for (const command of commands) {
      const context = { commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'r' };
      await engine.handle(webhookProcess, command, context);
    }
  });

test('parked webhooks are listed, and processed by the workers on request', async () => {
  const folder = temporaryFolder();
  const parked = (...args: string[]) => operate(folder, 'parkedWebhooks', args);
  await expect(parked()).rejects.toThrow('there is no events.db');
  await park(folder, 'h1');
  await park(folder, 'h2');
  expect((await parked()).split('\n')).toStrictEqual([
    expect.stringMatching(/^h1 {2}20\S+Z {2}website w1, customers\/redact: The vault is closed$/),
    expect.stringMatching(/^h2 {2}20\S+Z {2}website w1, customers\/redact: The vault is closed$/),
  ]);
  await expect(parked('--replay', 'none')).rejects.toThrow('No parked webhook none');
  await expect(parked('--again')).rejects.toThrow('Usage: npm run webhooks:parked');

  expect(await parked('--replay', 'h1')).toMatch(/^h1 .*: will be processed again$/);
  expect(await parked('--replay', 'all')).toMatch(/^h2 .*: will be processed again$/);
  expect(await parked()).toBe('No webhook is parked.');
  const server = await startServer(folder, { LOG_LEVEL: 'info' });
  try {
    const lines = await eventually('both are processed', () => {
      const found = server
        .written()
        .split('\n')
        .filter((line) => line.includes('a compliance webhook was received'));
      return found.length === 2 ? found : undefined;
    });
    expect(lines.map((line) => (JSON.parse(line) as { webhookId: string }).webhookId).sort()).toStrictEqual(['h1', 'h2']);
  } finally {
    await server.kill('SIGTERM');
  }
});
