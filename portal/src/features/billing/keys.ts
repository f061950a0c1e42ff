import { websiteKeys } from '../website/keys.js';

export const billingKeys = {
  billing: (websiteId: string) => [...websiteKeys.website(websiteId), 'billing'],
} as const;
