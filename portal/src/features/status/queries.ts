import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { statusKeys } from './keys.js';
import { areReceiptsOff, keepReceipts } from './looks.js';

/** As many as one answer holds. */
const limit = 200;

/** The changes of the plan since it was made, newest first, and whether it is kept who saw them. */
export const visibleChangesQuery = (websiteId: string) =>
  queryOptions({
    queryKey: statusKeys.changes(websiteId),
    queryFn: async ({ signal }) => {
      const query = { since: 0, limit };
      const { data, response } = await doorstep.websites.delivery.changes(websiteId, query, { signal }).withResponse();
      const areReceiptsKept = response.headers.get('read-receipts') === 'on';
      keepReceipts(areReceiptsKept);
      return { changes: [...data], areReceiptsKept };
    },
  });

/**
 * The revision that the caller saw last; -1: none yet, null: the service does not say. Asked once,
 * because looking at the page makes it another one.
 */
export const lastSeenQuery = (websiteId: string) =>
  queryOptions({
    queryKey: statusKeys.lastSeen(websiteId),
    staleTime: Infinity,
    gcTime: Infinity,
    queryFn: async ({ signal }) => {
      if (areReceiptsOff()) return null;
      const unseen = await doorstep.websites.delivery.changes(websiteId, { limit }, { signal });
      const oldest = unseen.at(-1);
      return oldest === undefined ? null : oldest.revision - 1;
    },
  });
