import { meKeys } from '../me/keys.js';
import { websiteKeys } from '../website/keys.js';

/** What needs somebody, in the order in which it does. */
export const attentions = ['failed', 'late', 'waiting'] as const;

export type Attention = (typeof attentions)[number];

export const homeKeys = {
  attention: (attention: Attention) => websiteKeys.list({ attention }),
  newest: websiteKeys.list({ newest: 50 }),
  own: [...meKeys.me, 'websites'],
} as const;
