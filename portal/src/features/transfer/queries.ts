import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { transferKeys } from './keys.js';

/** The latest transfers of a website, newest first; cancelled ones are left out. */
export const transfersQuery = (websiteId: string) =>
  queryOptions({
    queryKey: transferKeys.all(websiteId),
    queryFn: async ({ signal }) => [...(await doorstep.websites.transfers.list(websiteId, { limit: 20 }, { signal }))],
  });

/** What a transfer comes to; once it was claimed, what of it is done. */
export const ledgerQuery = (websiteId: string, transferId: string) =>
  queryOptions({
    queryKey: transferKeys.ledger(websiteId, transferId),
    queryFn: ({ signal }) => doorstep.websites.transfers.ledger(websiteId, transferId, { signal }),
  });
