import { domainEvents, type DomainRecord } from '../../src/events/domain/domain.events.js';
import { domainProjection, type DomainDocument } from '../../src/projections/domain/domain.projection.js';
import { describeProjection, happened } from '../support/projectionCases.js';

const of = { websiteId: 'w1', domain: 'www.bakery.example' };
const record: DomainRecord = { type: 'TXT', name: '_doorstep.www.bakery.example', value: 'x', purpose: 'ownership', found: true };
const pending: DomainDocument = { ...of, status: 'pending', createdAt: '2026-01-01T00:00:00.000Z' };
const verified: DomainDocument = { ...pending, status: 'verified', records: [record], verifiedAt: happened };

describeProjection(domainProjection, [domainEvents], {
  DomainAdded: [
    { when: of, then: { ...pending, createdAt: happened } },
    {
      shows: 'nothing of the website that had it before',
      given: verified,
      when: { ...of, websiteId: 'w2' },
      then: { ...pending, websiteId: 'w2', createdAt: happened },
    },
  ],
  DomainVerified: [{ given: pending, when: { ...of, records: [record] }, then: verified }],
  DomainChecked: [
    {
      shows: 'that it stays verified',
      given: verified,
      when: { ...of, records: [{ ...record, found: false }] },
      then: { ...verified, records: [{ ...record, found: false }] },
    },
  ],
  DomainRemoved: [{ given: verified, when: { ...of, reason: 'deleted' }, then: null }],
});
