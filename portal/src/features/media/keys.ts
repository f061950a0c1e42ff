import { websiteKeys } from '../website/keys.js';

export const mediaKeys = {
  list: (websiteId: string) => [...websiteKeys.website(websiteId), 'media'],
  address: (websiteId: string, mediaId: string) => [...websiteKeys.website(websiteId), 'mediaAddress', mediaId],
} as const;
