import { expect, test } from '@jest/globals';
import { maxDeliveryCheckpoints } from '../../src/events/delivery/delivery.events.js';
import { readableData } from '../../src/events/readableEvent.js';
import { SentCheckpoint } from '../../src/http/routes/delivery/delivery.resource.js';
import { eta, websiteId } from '../support/delivery.js';

const personal = { display: () => Promise.reject(new Error('nothing here is personal')) };

test.each(['DeliverySetUp', 'DeliveryReplaced', 'DeliveryUndone'])('the largest block is shown whole: %s', async (type) => {
  const { label, neededFromClient } = SentCheckpoint.properties as unknown as Record<string, { maxLength: number }>;
  const checkpoints = Array.from({ length: maxDeliveryCheckpoints }, (_, index) => ({
    id: String(index).padEnd(64, '-'),
    // Characters that take the most in JSON.
    label: '\u0001'.repeat(label?.maxLength ?? 0),
    order: Number.MIN_SAFE_INTEGER,
    status: 'in_progress',
    dueAt: eta,
    neededFromClient: '\u0001'.repeat(neededFromClient?.maxLength ?? 0),
  }));
  const data = { websiteId, estimatedCompletionAt: eta, showPreviewUrl: true, checkpoints };
  expect(await readableData({ type, data }, personal)).toStrictEqual({ data, omitted: [] });
});

test('a field that is longer than people read is named', async () => {
  const data = { websiteId, body: { text: 'x'.repeat(20_000) } };
  expect(await readableData({ type: 'ContentSaved', data }, personal)).toStrictEqual({
    data: { websiteId },
    omitted: ['body'],
  });
});
