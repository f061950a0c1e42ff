import { websiteKeys } from '../website/keys.js';

export const mediaKeys = {
  list: (websiteId: string) => [...websiteKeys.website(websiteId), 'media'],
  one: (websiteId: string, mediaId: string) => [...mediaKeys.list(websiteId), mediaId],
  /** Not below the website: no change of it makes an address another. */
  address: (websiteId: string, mediaId: string) => ['mediaAddress', websiteId, mediaId],
} as const;
