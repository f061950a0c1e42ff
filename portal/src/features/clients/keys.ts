import type { QueryKey } from '@tanstack/react-query';

export const clientKeys = {
  all: ['clients'],
  lists: ['clients', 'list'],
  list: (q: string): QueryKey => ['clients', 'list', q],
  owners: (clientIds: readonly string[]): QueryKey => ['clients', 'owners', clientIds],
  client: (clientId: string): QueryKey => ['clients', clientId],
  websites: (clientId: string, limit: number): QueryKey => ['clients', clientId, 'websites', limit],
} as const;
