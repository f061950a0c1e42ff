import type { Recorded } from '../envelope.js';
import type { StreamFold } from '../fold.js';
import type { DomainEvent, DomainRecord } from './domain.events.js';
import { domainStream } from './domain.stream.js';

/** Whose a domain is. */
export type DomainState =
  /** `formerly`: the website that had it last. */
  | { readonly stage: 'free'; readonly formerly?: string }
  | {
      readonly stage: 'pending' | 'verified';
      readonly websiteId: string;
      readonly addedAt: string;
      /** Absent before the first check. */
      readonly records?: readonly DomainRecord[];
    };

export const isDomainOf = (state: DomainState, websiteId: string): boolean =>
  state.stage !== 'free' && state.websiteId === websiteId;

const evolve = (state: DomainState, event: Recorded<DomainEvent>): DomainState => {
  const { websiteId } = event.data;
  switch (event.type) {
    case 'DomainAdded':
      return { stage: 'pending', websiteId, addedAt: event.metadata.at };
    case 'DomainVerified':
      return state.stage === 'free' ? state : { ...state, stage: 'verified', records: event.data.records };
    case 'DomainChecked':
      return state.stage === 'free' ? state : { ...state, records: event.data.records };
    case 'DomainRemoved':
      return { stage: 'free', formerly: websiteId };
  }
};

export const domainFold: StreamFold<DomainState, DomainEvent, { readonly domain: string }> = {
  name: 'domain',
  stream: domainStream,
  initialState: { stage: 'free' },
  evolve,
};
