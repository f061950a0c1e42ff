import type { QueryKey } from '@tanstack/react-query';
import { websiteKeys } from '../website/keys.js';

export const peopleKeys = {
  all: (websiteId: string): QueryKey => [...websiteKeys.website(websiteId), 'people'],
  list: (websiteId: string): QueryKey => [...peopleKeys.all(websiteId), 'list'],
  access: (websiteId: string, email: string): QueryKey => [...peopleKeys.all(websiteId), 'access', email],
} as const;
