import type { QueryKey } from '@tanstack/react-query';

export const clientKeys = {
  all: ['clients'],
  lists: ['clients', 'list'],
  page: (q: string, cursor: string | undefined): QueryKey => ['clients', 'list', q, cursor ?? null],
  client: (clientId: string): QueryKey => ['clients', clientId],
  websites: (clientId: string, limit: number): QueryKey => ['clients', clientId, 'websites', limit],
} as const;
