import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { deliveryKeys } from './keys.js';

/** The delivery block. */
export const deliveryQuery = (websiteId: string) =>
  queryOptions({
    queryKey: deliveryKeys.block(websiteId),
    queryFn: ({ signal }) => doorstep.websites.delivery.get(websiteId, undefined, { signal }),
  });
