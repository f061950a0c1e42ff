import type { QueryKey } from '@tanstack/react-query';

export const auditKeys = {
  page: (filter: object, cursor: string | undefined): QueryKey => ['audit', filter, cursor ?? null],
  names: (kind: 'clients' | 'websites', ids: readonly string[]): QueryKey => ['audit', 'names', kind, ids],
} as const;
