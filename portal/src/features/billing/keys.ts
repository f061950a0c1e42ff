import { websiteKeys } from '../website/keys.js';

export const billingKeys = {
  billing: (websiteId: string) => [...websiteKeys.website(websiteId), 'billing'],
  ledger: (websiteId: string) => [...websiteKeys.website(websiteId), 'ledger'],
} as const;
