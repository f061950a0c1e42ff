import type { QueryKey } from '@tanstack/react-query';

export const outboxKeys = {
  list: (to: string): QueryKey => ['outbox', to],
} as const;
