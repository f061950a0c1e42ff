import type { QueryKey } from '@tanstack/react-query';

export const outboxKeys = {
  page: (to: string, cursor: string | undefined): QueryKey => ['outbox', to, cursor ?? null],
} as const;
