import type { DeliveryBlock } from '@doorstep/sdk';
import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { allOf } from '../../api/pages.js';
import { toSaved, type Saved } from '../../api/saved.js';
import { deliveryKeys } from './keys.js';

/** The delivery block. */
export const deliveryQuery = (websiteId: string) =>
  queryOptions({
    queryKey: deliveryKeys.block(websiteId),
    queryFn: ({ signal }) => doorstep.websites.delivery.get(websiteId, undefined, { signal }),
  });

export type SavedDelivery = Saved<DeliveryBlock>;

/** The block, for who changes it. */
export const savedDeliveryQuery = (websiteId: string) =>
  queryOptions({
    queryKey: deliveryKeys.saved(websiteId),
    queryFn: async ({ signal }) => toSaved(await doorstep.websites.delivery.get(websiteId, undefined, { signal }).withResponse()),
  });

/** What past deliveries say of this one. */
export const forecastQuery = (websiteId: string) =>
  queryOptions({
    queryKey: deliveryKeys.forecast(websiteId),
    queryFn: ({ signal }) => doorstep.websites.delivery.forecast(websiteId, { signal }),
  });

/** Every change, oldest first. */
export const historyQuery = (websiteId: string) =>
  queryOptions({
    queryKey: deliveryKeys.history(websiteId),
    queryFn: ({ signal }) => allOf(doorstep.websites.delivery.history(websiteId, { limit: 200 }, { signal })),
  });

/** Who looked at which revision. */
export const readersQuery = (websiteId: string) =>
  queryOptions({
    queryKey: deliveryKeys.readers(websiteId),
    queryFn: ({ signal }) => allOf(doorstep.websites.delivery.readers(websiteId, { limit: 200 }, { signal })),
  });

/** The block as it was at a time. What was stays as it was. */
export const deliveryAtQuery = (websiteId: string, at: string) =>
  queryOptions({
    queryKey: deliveryKeys.at(websiteId, at),
    queryFn: ({ signal }) => doorstep.websites.delivery.get(websiteId, { at }, { signal }),
    staleTime: Infinity,
  });

/** Who owns the website: whom its pages call by name. */
export const ownerQuery = (websiteId: string) =>
  queryOptions({
    queryKey: deliveryKeys.owner(websiteId),
    queryFn: async ({ signal }) => (await doorstep.websites.clients.list(websiteId, { limit: 1 }, { signal })).owner,
  });
