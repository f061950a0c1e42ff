import { beforeAll, describe, expect, test } from '@jest/globals';
import { blockOf, changesOf, startDeliveryApi, type DeliveryCalls } from '../support/deliveryApi.js';
import { operate } from '../support/server.js';

let folder: string;
let delivery: DeliveryCalls;
beforeAll(async () => {
  const started = await startDeliveryApi();
  folder = started.api.folder;
  delivery = await started.newDelivery();
  await delivery.setStatus('qa', 'done');
});

const audit = (...args: string[]): Promise<string> => operate(folder, 'auditDelivery', args);

describe('npm run audit:delivery', () => {
  test('prints from the log alone what the API answers, while the server is running', async () => {
    const { websiteId, ...calls } = delivery;
    const { revision: _, ...block } = blockOf(await calls.read());
    expect(JSON.parse(await audit(websiteId, '--json'))).toStrictEqual({
      websiteId,
      changes: changesOf(await calls.history()),
      block,
    });
    expect(await audit(websiteId)).toMatch(
      /^Delivery of website \w+: 2 changes\n[^]*\n {4}checkpoints\.qa\.status +pending → done\n/,
    );
  });

  test('--at stops at that time', async () => {
    const { updatedAt } = blockOf(await delivery.read());
    const until = new Date(Date.parse(updatedAt) - 1).toISOString();
    const report = await audit(delivery.websiteId, '--at', until.replace('Z', '+00:00'));
    expect(report).toMatch(/: 1 change\n/);
    expect(report).not.toMatch(/done/);
  });

  test('wrong arguments, or an unknown website: exit code 1 and the reason', async () => {
    await Promise.all([
      expect(audit()).rejects.toThrow(/^auditDelivery ended with 1:\nUsage: npm run audit:delivery -- <website id>/),
      expect(audit('nope')).rejects.toThrow(/Delivery for website nope is not set up\n$/),
      expect(audit('nope', '--at', '2020-01-01T00:00:00Z')).rejects.toThrow(/not set up yet at 2020-01-01T00:00:00.000Z\n$/),
      expect(audit('nope', '--at', 'yesterday')).rejects.toThrow(/--at must be a time/),
      expect(audit('nope', '--until', 'x')).rejects.toThrow(/Unknown option '--until'[^]*Usage: /),
    ]);
  });
});
