import { websiteKeys } from '../website/keys.js';

export const documentKeys = {
  list: (websiteId: string) => [...websiteKeys.website(websiteId), 'documents'],
} as const;
