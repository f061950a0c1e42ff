import { Type, type Static } from 'typebox';
import { event, type EventOf } from '../defineStream.js';

/**
 * What a record in DNS is for: it proves whose the domain is, leads visitors to the website, or the
 * hosting provider asks for it.
 */
const Purpose = Type.Enum(['ownership', 'address', 'hosting']);

/** A record that is to be set in DNS, and whether the last check found it. */
const DomainRecord = Type.Object({
  type: Type.Enum(['TXT', 'CNAME', 'A', 'AAAA']),
  name: Type.String(),
  value: Type.String(),
  purpose: Purpose,
  found: Type.Boolean(),
});
export type DomainRecord = Static<typeof DomainRecord>;

const ofDomain = { websiteId: Type.String(), domain: Type.String() };
const checked = { ...ofDomain, records: Type.Array(DomainRecord) };

/** Stream `domain-<domain>`. */
export const domainEvents = {
  /** The website has it from now on, and has not proved yet that it is theirs. */
  DomainAdded: event(Type.Object(ofDomain)),
  /** The record that proves whose it is was found: the website is served there. */
  DomainVerified: event(Type.Object(checked)),
  /** A check found other records than the one before; it takes no verification away. */
  DomainChecked: event(Type.Object(checked)),
  /**
   * `deleted`: by an admin; `lapsed`: it was not verified in time, and another website wants it;
   * `provenElsewhere`: it was not verified, and its record names another website; `websiteDeleted`: for good.
   */
  DomainRemoved: event(
    Type.Object({ ...ofDomain, reason: Type.Enum(['deleted', 'lapsed', 'provenElsewhere', 'websiteDeleted']) }),
  ),
};

export type DomainEvent = EventOf<typeof domainEvents>;
export type DomainRemovalReason = Extract<DomainEvent, { type: 'DomainRemoved' }>['data']['reason'];
