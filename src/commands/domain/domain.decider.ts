import type { DomainEvent, DomainRecord } from '../../events/domain/domain.events.js';
import { domainFold, type DomainState } from '../../events/domain/domain.state.js';
import type { Decider } from '../decider.js';
import { refusals, type Refusal } from '../refusal.js';
import type { AddDomain, DomainCommand, RecordDomainCheck } from './domain.commands.js';

/** Of one website. */
const maxDomains = 50;

/** How long a domain is kept for a website that does not prove that it is theirs, in milliseconds. */
const PENDING_MS = 7 * 86_400_000;

const add = (command: AddDomain, state: DomainState): readonly DomainEvent[] | Refusal => {
  const { websiteId, domain, kept, proof, at } = command;
  const removed: DomainEvent[] = [];
  if (state.stage !== 'free') {
    if (state.websiteId === websiteId) return [];
    if (state.stage === 'verified') return refusals.domainTaken();
    const isLapsed = Date.parse(at) - Date.parse(state.addedAt) >= PENDING_MS;
    if (!isLapsed && !proof.found) return refusals.domainTaken(proof);
    const reason = proof.found ? 'provenElsewhere' : 'lapsed';
    removed.push({ type: 'DomainRemoved', data: { websiteId: state.websiteId, domain, reason } });
  }
  if (kept >= maxDomains) return refusals.tooManyDomains();
  return [...removed, { type: 'DomainAdded', data: { websiteId, domain } }];
};

const textOf = (records: readonly DomainRecord[] = []): string =>
  records.map(({ type, name, value, found }) => [type, name, value, found].join(' ')).join('\n');

const recordCheck = (command: RecordDomainCheck, state: DomainState): readonly DomainEvent[] | Refusal => {
  const { websiteId, domain } = command;
  if (state.stage === 'free' || state.websiteId !== websiteId) return refusals.domainNotFound();
  const records = command.records.map((record) => ({ ...record }));
  const isProved = records.some(({ purpose, found }) => purpose === 'ownership' && found);
  if (state.stage === 'pending' && isProved) return [{ type: 'DomainVerified', data: { websiteId, domain, records } }];
  if (textOf(records) === textOf(state.records)) return [];
  return [{ type: 'DomainChecked', data: { websiteId, domain, records } }];
};

const decide = (command: DomainCommand, state: DomainState): readonly DomainEvent[] | Refusal => {
  switch (command.type) {
    case 'AddDomain':
      return add(command, state);
    case 'RecordDomainCheck':
      return recordCheck(command, state);
    case 'RemoveDomain': {
      const { websiteId, domain, reason } = command;
      if (state.stage === 'free') return state.formerly === websiteId ? [] : refusals.domainNotFound();
      if (state.websiteId !== websiteId) return refusals.domainNotFound();
      return [{ type: 'DomainRemoved', data: { websiteId, domain, reason } }];
    }
    default:
      return command satisfies never;
  }
};

/** Stream `domain-<domain>`: a domain is one website's, and verified is who proved it first. */
export const domainDecider: Decider<DomainState, DomainCommand, DomainEvent> = { ...domainFold, decide };
