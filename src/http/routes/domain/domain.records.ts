import { isIP } from 'node:net';
import type { DomainRecord } from '../../../events/domain/domain.events.js';
import { ProviderFault } from '../../../integrations/fault.js';
import type { Dns } from '../../../integrations/dns/port.js';

/** The record that proves that a domain is a website's; only who owns the domain can set it. */
export const ownershipRecord = (
  blindIndex: (text: string) => string,
  { websiteId, domain }: { readonly websiteId: string; readonly domain: string },
): DomainRecord => ({
  type: 'TXT',
  name: `_doorstep.${domain}`,
  // It names the website, and tells nobody else which one that is.
  value: `doorstep-verification=${blindIndex(`domain ${domain} ${websiteId}`)}`,
  purpose: 'ownership',
  found: false,
});

/** One record for each target: any one of them leads visitors there. */
export const addressRecords = (domain: string, targets: readonly string[]): readonly DomainRecord[] =>
  targets.map((value) => ({ type: typeOf(value), name: domain, value, purpose: 'address', found: false }));

const typeOf = (target: string): DomainRecord['type'] => {
  const version = isIP(target);
  if (version === 0) return 'CNAME';
  return version === 4 ? 'A' : 'AAAA';
};

/** The records, each with whether the check that left `known` found it. */
export const withFound = (records: readonly DomainRecord[], known: readonly DomainRecord[] = []): readonly DomainRecord[] =>
  records.map((record) => ({ ...record, found: known.some((other) => other.found && isSame(record, other)) }));

const isSame = (one: DomainRecord, other: DomainRecord): boolean =>
  one.type === other.type && one.name === other.name && one.value === other.value;

/**
 * The records, each with whether DNS has it now; `problem`: what kept it from being asked of some, which are as they
 * were given.
 */
export interface CheckedRecords {
  readonly records: readonly DomainRecord[];
  readonly problem?: string;
}

/** Asks DNS for each record at the same time, which takes 3 s at most. */
export const checkRecords = async (dns: Dns, records: readonly DomainRecord[]): Promise<CheckedRecords> => {
  let problem: string | undefined;
  const checked = await Promise.all(
    records.map(async (record) => {
      try {
        return { ...record, found: await isFound(dns, record) };
      } catch (error) {
        if (!(error instanceof ProviderFault)) throw error;
        problem = error.message;
        return record;
      }
    }),
  );
  return { records: checked, ...(problem !== undefined && { problem }) };
};

const isFound = async (dns: Dns, { type, name, value }: DomainRecord): Promise<boolean> => {
  if (type === 'TXT') return (await dns.texts(name)).includes(value);
  if (type !== 'CNAME') return (await dns.addresses(name)).includes(value);
  const [names, addresses, meant] = await Promise.all([
    dns.canonicalNames(name),
    dns.addresses(name),
    // At the apex of a domain, where no CNAME may be, the addresses of the name stand in for it.
    dns.addresses(value),
  ]);
  return names.includes(value) || meant.some((address) => addresses.includes(address));
};
