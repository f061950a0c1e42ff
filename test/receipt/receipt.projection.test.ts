import { receiptEvents } from '../../src/events/receipt/receipt.events.js';
import { receiptProjection } from '../../src/projections/receipt/receipt.projection.js';
import { earlier, someAdmin } from '../support/given.js';
import { describeProjection, happened } from '../support/projectionCases.js';

const seen = { websiteId: 'w1', readerId: 'c1', clientId: 'c1', revision: 4 };
const { subject, role, via } = someAdmin;
const actor = { subject, role, via };

describeProjection(
  receiptProjection,
  [receiptEvents],
  {
    DeliveryRevisionSeen: [
      {
        shows: 'a first look',
        when: seen,
        then: {
          websiteId: 'w1',
          clientId: 'c1',
          actor,
          revision: 4,
          firstAt: happened,
          lastAt: happened,
          looks: [{ revision: 4, firstAt: happened, lastAt: happened }],
        },
      },
      {
        shows: 'a later look, at what was seen before',
        given: {
          websiteId: 'w1',
          actor: { ...actor, tokenId: 't1', via: 'token' },
          revision: 7,
          firstAt: earlier,
          lastAt: earlier,
          looks: [
            { revision: 7, firstAt: earlier, lastAt: earlier },
            { revision: 4, firstAt: earlier, lastAt: earlier },
          ],
        },
        when: { websiteId: 'w1', readerId: 'c1', revision: 4 },
        then: {
          websiteId: 'w1',
          actor,
          revision: 7,
          firstAt: earlier,
          lastAt: happened,
          looks: [
            { revision: 4, firstAt: earlier, lastAt: happened },
            { revision: 7, firstAt: earlier, lastAt: earlier },
          ],
        },
      },
    ],
  },
  'w1-c1',
);
