import { websiteKeys } from '../website/keys.js';

export const statusKeys = {
  changes: (websiteId: string) => [...websiteKeys.website(websiteId), 'delivery', 'visibleChanges'],
  /** Not below the website: what one saw before does not change when the website does. */
  lastSeen: (websiteId: string) => ['lastSeen', websiteId],
} as const;
