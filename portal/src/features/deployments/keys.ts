import { websiteKeys } from '../website/keys.js';

export const deploymentKeys = {
  list: (websiteId: string) => [...websiteKeys.website(websiteId), 'deployments'],
  commits: (websiteId: string) => [...websiteKeys.website(websiteId), 'commits'],
} as const;
