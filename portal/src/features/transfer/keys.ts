import type { QueryKey } from '@tanstack/react-query';
import { websiteKeys } from '../website/keys.js';

export const transferKeys = {
  all: (websiteId: string): QueryKey => [...websiteKeys.website(websiteId), 'transfers'],
  ledger: (websiteId: string, transferId: string): QueryKey => [...transferKeys.all(websiteId), transferId, 'ledger'],
} as const;
