import { meKeys } from '../me/keys.js';
import { websiteKeys } from '../website/keys.js';

export type Attention = 'failed' | 'late' | 'waiting';

export const homeKeys = {
  attention: (attention: Attention) => websiteKeys.list({ attention }),
  newest: websiteKeys.list({ newest: 50 }),
  own: [...meKeys.me, 'websites'],
} as const;
