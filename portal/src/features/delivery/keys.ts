import { websiteKeys } from '../website/keys.js';

export const deliveryKeys = {
  block: (websiteId: string) => [...websiteKeys.website(websiteId), 'delivery'],
} as const;
