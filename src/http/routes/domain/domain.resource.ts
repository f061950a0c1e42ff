import { Type, type Static } from 'typebox';
import type { DomainRecord } from '../../../events/domain/domain.events.js';
import type { DomainDocument } from '../../../projections/domain/domain.projection.js';

const Time = Type.String({ format: 'date-time' });

const DnsRecord = Type.Object(
  {
    type: Type.Enum(['TXT', 'CNAME', 'A', 'AAAA'], { description: 'Type of the record.' }),
    name: Type.String({ description: 'Where in DNS it is set.', examples: ['_doorstep.www.corner-bakery.example'] }),
    value: Type.String({
      description: 'What it says.',
      examples: ['doorstep-verification=0m6v9s2kq1w8x4y7z3a5b0c2de'],
    }),
    purpose: Type.Enum(['ownership', 'address', 'hosting'], {
      description:
        '`ownership` proves that the domain is this website’s. `address` leads visitors there: one of those is enough. A domain without a label of its own before it (`example.com`) takes no CNAME; set A and AAAA there, or what the DNS provider calls ALIAS, ANAME or flattening. `hosting` is what the hosting provider asks for.',
    }),
    found: Type.Boolean({ description: 'Whether the last check found it.' }),
  },
  { $id: 'DnsRecord', description: 'A record that is to be set in DNS.' },
);

export const Domain = Type.Object(
  {
    domain: Type.String({
      description: 'The hostname: lower case, with A-labels for other scripts.',
      examples: ['www.corner-bakery.example'],
    }),
    websiteId: Type.String(),
    status: Type.Enum(['pending', 'verified'], {
      description:
        '`verified`: proved to be this website’s, which is served there. It stays so when the record goes. `pending`: kept for this website for 7 days; after that another one may have it.',
    }),
    records: Type.Array(DnsRecord, { description: 'What is to be set in DNS, and what of it the last check found.' }),
    createdAt: Time,
    verifiedAt: Type.Optional(Type.String({ format: 'date-time', description: 'When it was verified.' })),
    problem: Type.Optional(
      Type.String({
        description: 'What kept this check from finding everything out, in words for people; absent when nothing did.',
        examples: ['DNS did not answer in time'],
      }),
    ),
  },
  { $id: 'Domain', description: 'A hostname of the website’s own.' },
);

/** @param wanted the records to set, before a check says which they are and which of them are there */
export const toDomain = (
  { websiteId, domain, status, records, createdAt, verifiedAt }: DomainDocument,
  wanted: readonly DomainRecord[],
  problem?: string,
): Static<typeof Domain> => ({
  domain,
  websiteId,
  status,
  records: (records ?? wanted).map((record) => ({ ...record })),
  createdAt,
  ...(verifiedAt !== undefined && { verifiedAt }),
  ...(problem !== undefined && { problem }),
});
