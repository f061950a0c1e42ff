import { websiteKeys } from '../website/keys.js';

export const settingsKeys = {
  domains: (websiteId: string) => [...websiteKeys.website(websiteId), 'domains'],
  services: (websiteId: string) => [...websiteKeys.website(websiteId), 'services'],
  blueprint: (websiteId: string) => [...websiteKeys.website(websiteId), 'blueprint'],
} as const;
