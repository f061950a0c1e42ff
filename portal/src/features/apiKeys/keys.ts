import type { QueryKey } from '@tanstack/react-query';

export const apiKeyKeys = {
  all: ['apiKeys'],
  of: (subject: string | undefined): QueryKey => ['apiKeys', subject ?? null],
} as const;
