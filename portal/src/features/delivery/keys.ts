import { websiteKeys } from '../website/keys.js';

const block = (websiteId: string) => [...websiteKeys.website(websiteId), 'delivery'] as const;

export const deliveryKeys = {
  /** All of a delivery block stands below it. */
  block,
  /** The block with its tag, for who writes it. */
  saved: (websiteId: string) => [...block(websiteId), 'saved'],
  forecast: (websiteId: string) => [...block(websiteId), 'forecast'],
  history: (websiteId: string) => [...block(websiteId), 'history'],
  readers: (websiteId: string) => [...block(websiteId), 'readers'],
  /** The block as it was at a time. */
  at: (websiteId: string, at: string) => [...block(websiteId), 'at', at],
  owner: (websiteId: string) => [...websiteKeys.website(websiteId), 'clients', 'owner'],
  /** Of the writes. */
  write: (websiteId: string) => [...block(websiteId), 'write'],
} as const;
