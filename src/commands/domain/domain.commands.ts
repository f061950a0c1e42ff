import type { DomainRecord, DomainRemovalReason } from '../../events/domain/domain.events.js';

interface OfDomain {
  readonly at: string;
  readonly websiteId: string;
  /** In its canonical form (`platform/hostname.ts`). */
  readonly domain: string;
}

export interface AddDomain extends OfDomain {
  readonly type: 'AddDomain';
  /** How many domains the website has, as the read model knows them. */
  readonly kept: number;
  /** The record that proves that the domain is this website's, and whether it is there. */
  readonly proof: { readonly name: string; readonly value: string; readonly found: boolean };
}

/** What a check of the domain's records found. */
export interface RecordDomainCheck extends OfDomain {
  readonly type: 'RecordDomainCheck';
  readonly records: readonly DomainRecord[];
}

export interface RemoveDomain extends OfDomain {
  readonly type: 'RemoveDomain';
  readonly reason: Extract<DomainRemovalReason, 'deleted' | 'websiteDeleted'>;
}

export type DomainCommand = AddDomain | RecordDomainCheck | RemoveDomain;
