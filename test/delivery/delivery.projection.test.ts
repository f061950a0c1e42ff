import { describe, expect, test } from '@jest/globals';
import { deliveryEvents, type DeliveryEvent } from '../../src/events/delivery/delivery.events.js';
import { deliveryProjection } from '../../src/projections/delivery/delivery.projection.js';
import { checkpoint, content, replaced, setUp, websiteId } from '../support/delivery.js';
import { earlier, now, recorded } from '../support/given.js';

const done = checkpoint('a', { status: 'done', completedAt: earlier });
const document = { ...content([checkpoint('a'), checkpoint('b')]), updatedAt: earlier };

const statusSet = (data: Partial<Extract<DeliveryEvent, { type: 'DeliveryCheckpointStatusSet' }>['data']>): DeliveryEvent => ({
  type: 'DeliveryCheckpointStatusSet',
  data: { websiteId, checkpointId: 'a', status: 'in_progress', previousStatus: 'pending', ...data },
});

const after = (before: typeof document | null, event: DeliveryEvent) =>
  deliveryProjection.evolve(before, recorded(event, { revision: 7, at: now }));

describe('the delivery projection', () => {
  test('DeliverySetUp makes the document, without what is about the change alone', () => {
    expect(
      after(null, setUp([done], { previewUrlOverride: 'https://p.example', reason: 'New', reasonVisible: true })),
    ).toStrictEqual({
      ...content([done], { previewUrlOverride: 'https://p.example' }),
      updatedAt: now,
    });
  });

  test('DeliveryReplaced replaces all of it', () => {
    const before = { ...document, previewUrlOverride: 'https://p.example' };
    expect(after(before, replaced([done]))).toStrictEqual({ ...content([done]), updatedAt: now });
  });

  test('DeliveryCheckpointStatusSet sets the status and the time of completion of that checkpoint', () => {
    expect(after(document, statusSet({ status: 'done', completedAt: now }))).toStrictEqual({
      ...content([checkpoint('a', { status: 'done', completedAt: now }), checkpoint('b')]),
      updatedAt: now,
    });
  });

  test('DeliveryCheckpointStatusSet takes the time of completion away when it has none', () => {
    const before = { ...document, checkpoints: [done] };
    expect(after(before, statusSet({ previousStatus: 'done' }))).toStrictEqual({
      ...content([checkpoint('a', { status: 'in_progress' })]),
      updatedAt: now,
    });
  });

  test('DeliveryUndone is the block as it was', () => {
    const event: DeliveryEvent = { type: 'DeliveryUndone', data: { ...content([done]), revision: 3 } };
    expect(after(document, event)).toStrictEqual({ ...content([done]), updatedAt: now });
  });

  test('copes with a status of a checkpoint or a block that is not there', () => {
    expect(after(document, statusSet({ checkpointId: 'gone' }))).toStrictEqual({ ...document, updatedAt: now });
    expect(after(null, statusSet({}))).toBeNull();
  });

  test('handles or ignores every event of the stream', () => {
    expect([...deliveryProjection.handles, ...deliveryProjection.ignores].sort()).toStrictEqual(
      Object.keys(deliveryEvents).sort(),
    );
  });

  test('is a fold of the delivery stream of the website', () => {
    expect(deliveryProjection.documentId(recorded(setUp(), { stream: deliveryProjection.stream(websiteId) }))).toBe(websiteId);
    expect(deliveryProjection.stream(websiteId)).toBe('delivery-w1');
  });
});
