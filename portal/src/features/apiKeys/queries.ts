import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { allOf } from '../../api/pages.js';
import { apiKeyKeys } from './keys.js';

/**
 * The keys of somebody, all of them, because each names the one that it was made with. At most 50 are live;
 * those that have expired stay until they are revoked.
 * @param subject default: the caller
 */
export const apiKeysQuery = (subject?: string) =>
  queryOptions({
    queryKey: apiKeyKeys.of(subject),
    queryFn: ({ signal }) => allOf(doorstep.apiKeys.list({ limit: 200, ...(subject !== undefined && { subject }) }, { signal })),
  });
