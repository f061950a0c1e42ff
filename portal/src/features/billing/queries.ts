import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { billingKeys } from './keys.js';

/** What is paid for a website. The service has tried again itself before it says that nobody answers. */
export const billingQuery = (websiteId: string) =>
  queryOptions({
    queryKey: billingKeys.billing(websiteId),
    queryFn: ({ signal }) => doorstep.websites.billing.get(websiteId, { signal, maxRetries: 0 }),
  });
