import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { analyticsKeys } from './keys.js';
import type { Range } from './range.js';

/** Who visited, and what they looked at. The service has tried again itself before it says that it cannot be asked. */
export const analyticsQuery = (websiteId: string, range: Range) =>
  queryOptions({
    queryKey: analyticsKeys.report(websiteId, range),
    queryFn: ({ signal }) => doorstep.websites.analytics.get(websiteId, range, { signal, maxRetries: 0 }),
  });
