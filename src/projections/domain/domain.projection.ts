import type { DomainEvent, DomainRecord } from '../../events/domain/domain.events.js';
import { domainStream } from '../../events/domain/domain.stream.js';
import { defineProjection, type Projection } from '../projection.js';

/** A domain of a website. Its id is the domain. */
export type DomainDocument = {
  readonly websiteId: string;
  readonly domain: string;
  readonly status: 'pending' | 'verified';
  /** As the last check found them; absent before the first. */
  readonly records?: readonly DomainRecord[];
  readonly createdAt: string;
  readonly verifiedAt?: string;
};

export const domainProjection: Projection<DomainDocument, DomainEvent> = defineProjection({
  name: 'domain',
  version: 1,
  stream: domainStream,
  on: {
    DomainAdded: (_document, { data: { websiteId, domain }, metadata }) => ({
      websiteId,
      domain,
      status: 'pending',
      createdAt: metadata.at,
    }),
    DomainVerified: (document, { data: { records }, metadata }) =>
      document === null ? null : { ...document, status: 'verified', records, verifiedAt: metadata.at },
    DomainChecked: (document, { data: { records } }) => (document === null ? null : { ...document, records }),
    DomainRemoved: () => null,
  },
  indexes: [{ field: 'websiteId' }],
});
