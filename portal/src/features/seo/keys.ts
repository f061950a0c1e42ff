import { websiteKeys } from '../website/keys.js';

export const seoKeys = { report: (websiteId: string) => [...websiteKeys.website(websiteId), 'seo'] } as const;
