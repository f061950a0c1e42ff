import type { QueryKey } from '@tanstack/react-query';

export const auditKeys = {
  all: ['audit'],
  list: (filter: object): QueryKey => ['audit', 'list', filter],
  names: (kind: 'clients' | 'websites', ids: readonly string[]): QueryKey => ['audit', 'names', kind, ids],
} as const;
