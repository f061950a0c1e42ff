import { deliveryEvents } from '../../src/events/delivery/delivery.events.js';
import { forecastProjection, type PaceDocument } from '../../src/projections/forecast/forecast.projection.js';
import { checkpoint, content, eta, websiteId } from '../support/delivery.js';
import { earlier, now } from '../support/given.js';
import { describeProjection, happened } from '../support/projectionCases.js';

const done = (id: string, completedAt = earlier) => checkpoint(id, { status: 'done', completedAt });
const statusSet = { websiteId, checkpointId: 'a', status: 'done', previousStatus: 'pending' } as const;
const laterEta = '2026-05-01T12:00:00.000Z';

const underWay: PaceDocument = { setUpAt: earlier, estimatedCompletionAt: eta, steps: [{ id: 'a' }, { id: 'b' }], done: [] };
const finished: PaceDocument = {
  setUpAt: earlier,
  estimatedCompletionAt: eta,
  steps: [
    { id: 'a', completedAt: happened },
    { id: 'b', completedAt: now },
  ],
  done: ['a', 'b'],
  promisedAt: eta,
  finishedAt: happened,
  finished: 'yes',
};

describeProjection(
  forecastProjection,
  [deliveryEvents],
  {
    DeliverySetUp: [
      {
        shows: 'when it was set up, and the steps',
        when: content([checkpoint('a'), checkpoint('b')]),
        then: { ...underWay, setUpAt: happened },
      },
      {
        shows: 'one without checkpoints as not finished',
        when: content([]),
        then: { setUpAt: happened, estimatedCompletionAt: eta, steps: [], done: [] },
      },
    ],
    DeliveryReplaced: [
      {
        shows: 'another ETA, which is not the one that was promised',
        given: { ...underWay, steps: [{ id: 'a', completedAt: earlier }, { id: 'b' }], done: ['a'], promisedAt: eta },
        when: content([done('a'), checkpoint('b')], { estimatedCompletionAt: laterEta }),
        then: {
          ...underWay,
          estimatedCompletionAt: laterEta,
          steps: [{ id: 'a', completedAt: earlier }, { id: 'b' }],
          done: ['a'],
          promisedAt: eta,
        },
      },
      {
        shows: 'that it is finished when the open ones were removed',
        given: underWay,
        when: content([done('a', now)], { estimatedCompletionAt: laterEta }),
        then: {
          setUpAt: earlier,
          estimatedCompletionAt: laterEta,
          steps: [{ id: 'a', completedAt: now }],
          done: ['a'],
          promisedAt: laterEta,
          finishedAt: now,
          finished: 'yes',
        },
      },
    ],
    DeliveryCheckpointStatusSet: [
      {
        shows: 'that the last one was done',
        given: { ...underWay, steps: [{ id: 'a' }, { id: 'b', completedAt: now }], done: ['b'], promisedAt: eta },
        when: { ...statusSet, completedAt: happened },
        then: finished,
      },
      {
        shows: 'that one is open again',
        given: finished,
        when: { ...statusSet, status: 'pending', previousStatus: 'done' },
        then: { ...underWay, steps: [{ id: 'a' }, { id: 'b', completedAt: now }], done: ['b'], promisedAt: eta },
      },
      {
        shows: 'no promise when none is done any more',
        given: { ...underWay, steps: [{ id: 'a', completedAt: now }, { id: 'b' }], done: ['a'], promisedAt: laterEta },
        when: { ...statusSet, status: 'pending', previousStatus: 'done' },
        then: underWay,
      },
      { shows: 'nothing without a block', when: { ...statusSet, completedAt: happened }, then: null },
    ],
    DeliveryUndone: [
      {
        shows: 'the steps as they were',
        given: finished,
        when: { ...content([checkpoint('a'), done('b', now)]), revision: 3 },
        then: { ...underWay, steps: [{ id: 'a' }, { id: 'b', completedAt: now }], done: ['b'], promisedAt: eta },
      },
    ],
  },
  websiteId,
);
