import { billingEvents } from '../../src/events/billing/billing.events.js';
import { billingProjection } from '../../src/projections/billing/billing.projection.js';
import { describeProjection } from '../support/projectionCases.js';

const ofAna = { id: 's1', provider: 'stripe', clientId: 'ana', customerId: 'c1' };
const ofBen = { id: 's2', provider: 'stripe', clientId: 'ben', customerId: 'c2' };
const document = { websiteId: 'w1', clients: ['ana'], subscriptions: [ofAna] };
const attached = ({ id: subscriptionId, ...of }: typeof ofAna) => ({ websiteId: 'w1', claimId: 'e1', subscriptionId, ...of });

describeProjection(
  billingProjection,
  [billingEvents],
  {
    SubscriptionAttached: [
      { when: attached(ofAna), then: document },
      {
        shows: 'the newest is the first',
        given: document,
        when: attached(ofBen),
        then: { websiteId: 'w1', clients: ['ben', 'ana'], subscriptions: [ofBen, ofAna] },
      },
      { shows: 'the same again stands once', given: document, when: attached(ofAna), then: document },
      {
        shows: 'ids are a payment provider’s own',
        given: document,
        when: attached({ ...ofAna, provider: 'embedded' }),
        then: { ...document, subscriptions: [{ ...ofAna, provider: 'embedded' }, ofAna] },
      },
    ],
    SubscriptionDetached: [
      {
        given: { websiteId: 'w1', clients: ['ben', 'ana'], subscriptions: [ofBen, ofAna] },
        when: { websiteId: 'w1', clientId: 'ben', provider: 'stripe', customerId: 'c2', subscriptionId: 's2' },
        then: document,
      },
    ],
  },
  'w1',
);
