import { deliveryEvents } from '../../src/events/delivery/delivery.events.js';
import { deliveryProjection } from '../../src/projections/delivery/delivery.projection.js';
import { checkpoint, content, websiteId } from '../support/delivery.js';
import { earlier } from '../support/given.js';
import { describeProjection, happened } from '../support/projectionCases.js';

const done = checkpoint('a', { status: 'done', completedAt: earlier });
const document = { ...content([checkpoint('a'), checkpoint('b')]), updatedAt: earlier };
const withOverride = { previewUrlOverride: 'https://p.example' };
const statusSet = { websiteId, checkpointId: 'a', status: 'in_progress', previousStatus: 'pending' } as const;

describeProjection(
  deliveryProjection,
  [deliveryEvents],
  {
    DeliverySetUp: [
      {
        shows: 'the block, without what is about the change alone',
        when: { ...content([done], withOverride), reason: 'New', reasonVisible: true },
        then: { ...content([done], withOverride), updatedAt: happened },
      },
    ],
    DeliveryReplaced: [
      {
        shows: 'another block, in place of all of it',
        given: { ...document, ...withOverride },
        when: content([done]),
        then: { ...content([done]), updatedAt: happened },
      },
    ],
    DeliveryCheckpointStatusSet: [
      {
        shows: 'the status and the time of completion of that checkpoint',
        given: document,
        when: { ...statusSet, status: 'done', completedAt: happened },
        then: {
          ...content([checkpoint('a', { status: 'done', completedAt: happened }), checkpoint('b')]),
          updatedAt: happened,
        },
      },
      {
        shows: 'what is needed from the client until it is done',
        given: { ...document, checkpoints: [checkpoint('a', { neededFromClient: 'Texts' })] },
        when: { ...statusSet, status: 'done', completedAt: happened },
        then: { ...content([checkpoint('a', { status: 'done', completedAt: happened })]), updatedAt: happened },
      },
      {
        shows: 'no time of completion when it has none',
        given: { ...document, checkpoints: [done] },
        when: { ...statusSet, previousStatus: 'done' },
        then: { ...content([checkpoint('a', { status: 'in_progress' })]), updatedAt: happened },
      },
      {
        shows: 'nothing of a checkpoint that is not there',
        given: document,
        when: { ...statusSet, checkpointId: 'gone' },
        then: { ...document, updatedAt: happened },
      },
      { shows: 'nothing without a block', when: statusSet, then: null },
    ],
    DeliveryUndone: [
      {
        shows: 'the block as it was',
        given: document,
        when: { ...content([done]), revision: 3 },
        then: { ...content([done]), updatedAt: happened },
      },
    ],
  },
  websiteId,
);
