import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { apiKeyKeys } from './keys.js';

/**
 * The live keys of somebody, all of them: nobody has more than 50.
 * @param subject default: the caller
 */
export const apiKeysQuery = (subject?: string) =>
  queryOptions({
    queryKey: apiKeyKeys.of(subject),
    queryFn: async ({ signal }) => [
      ...(await doorstep.apiKeys.list({ limit: 200, ...(subject !== undefined && { subject }) }, { signal })),
    ],
  });
