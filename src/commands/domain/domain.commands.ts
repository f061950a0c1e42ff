import type { DomainRecord, DomainRemovalReason } from '../../events/domain/domain.events.js';

export interface AddDomain {
  readonly type: 'AddDomain';
  readonly at: string;
  readonly websiteId: string;
  /** In its canonical form (`platform/hostname.ts`). */
  readonly domain: string;
  /** How many domains the website has, as the read model knows them. */
  readonly kept: number;
  /** The record that proves that the domain is this website's, and whether it is there. */
  readonly proof: { readonly name: string; readonly value: string; readonly found: boolean };
}

/** What a check of the domain's records found. */
export interface RecordDomainCheck {
  readonly type: 'RecordDomainCheck';
  readonly at: string;
  readonly websiteId: string;
  readonly domain: string;
  readonly records: readonly DomainRecord[];
}

export interface RemoveDomain {
  readonly type: 'RemoveDomain';
  readonly at: string;
  readonly websiteId: string;
  readonly domain: string;
  readonly reason: Extract<DomainRemovalReason, 'deleted' | 'websiteDeleted'>;
}

export type DomainCommand = AddDomain | RecordDomainCheck | RemoveDomain;
