import { websiteKeys } from '../website/keys.js';

export const provisioningKeys = {
  job: (websiteId: string) => [...websiteKeys.website(websiteId), 'provisioning'],
  receipts: (websiteId: string, state: string) => [...websiteKeys.website(websiteId), 'provisioning', 'receipts', state],
} as const;
