import { serviceEvents } from '../../src/events/service/service.events.js';
import { serviceProjection, type ServiceView } from '../../src/projections/service/service.projection.js';
import { describeProjection, happened } from '../support/projectionCases.js';

const shop: ServiceView = {
  id: 's1',
  kind: 'commerce',
  shopDomain: 'corner-bakery.myshopify.com',
  secretNames: ['adminToken'],
  createdAt: happened,
};
const calendar: ServiceView = { id: 's2', kind: 'scheduling', eventTypeIds: [7], secretNames: [], createdAt: happened };

describeProjection(serviceProjection, [serviceEvents], {
  ServiceAttached: [
    {
      when: {
        websiteId: 'w1',
        serviceId: 's1',
        kind: 'commerce',
        shopDomain: shop.shopDomain ?? '',
        secretNames: ['adminToken'],
      },
      then: { websiteId: 'w1', services: [shop] },
    },
    {
      shows: 'the newest first',
      given: { websiteId: 'w1', services: [shop] },
      when: { websiteId: 'w1', serviceId: 's2', kind: 'scheduling', eventTypeIds: [7], secretNames: [] },
      then: { websiteId: 'w1', services: [calendar, shop] },
    },
    {
      shows: 'the site of an analytics provider',
      when: { websiteId: 'w1', serviceId: 's3', kind: 'analytics', siteId: 'bakery.example', secretNames: [] },
      then: {
        websiteId: 'w1',
        services: [{ id: 's3', kind: 'analytics', siteId: 'bakery.example', secretNames: [], createdAt: happened }],
      },
    },
  ],
  ServiceDetached: [
    {
      given: { websiteId: 'w1', services: [calendar, shop] },
      when: { websiteId: 'w1', serviceId: 's1', kind: 'commerce', reason: 'deleted' },
      then: { websiteId: 'w1', services: [calendar] },
    },
    {
      shows: 'what was never there',
      when: { websiteId: 'w1', serviceId: 's1', kind: 'commerce', reason: 'uninstalled' },
      then: { websiteId: 'w1', services: [] },
    },
  ],
});
