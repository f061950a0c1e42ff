import type { QueryKey } from '@tanstack/react-query';

export const auditKeys = {
  all: ['audit'],
  list: (filter: object): QueryKey => ['audit', 'list', filter],
  choice: (q: string): QueryKey => ['audit', 'choice', q],
  names: (kind: 'clients' | 'websites', ids: readonly string[]): QueryKey => ['audit', 'names', kind, ids],
} as const;
