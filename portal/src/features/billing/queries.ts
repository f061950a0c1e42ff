import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { billingKeys } from './keys.js';

/** What is paid for a website. */
export const billingQuery = (websiteId: string) =>
  queryOptions({
    queryKey: billingKeys.billing(websiteId),
    queryFn: ({ signal }) => doorstep.websites.billing.get(websiteId, { signal }),
  });
