import { websiteKeys } from '../website/keys.js';
import type { Range } from './range.js';

export const analyticsKeys = {
  report: (websiteId: string, range: Range) => [...websiteKeys.website(websiteId), 'analytics', range],
} as const;
