import type { OfferTransferRequest } from '@doorstep/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { peopleKeys } from '../people/keys.js';
import { websiteKeys } from '../website/keys.js';
import { transferKeys } from './keys.js';
import { transfersQuery } from './queries.js';

const { transfers } = doorstep.websites;

export const useOffer = (websiteId: string) => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (asked: OfferTransferRequest) => transfers.offer(websiteId, asked),
    onSettled: () => void client.invalidateQueries({ queryKey: websiteKeys.website(websiteId) }),
  });
};

export const useCancel = (websiteId: string) => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (transferId: string) => transfers.cancel(websiteId, transferId),
    onSuccess: (_, transferId) => {
      // Off the page before anything is asked again: the ledger of what was taken back is gone.
      client.setQueryData(transfersQuery(websiteId).queryKey, (all) => all?.filter(({ id }) => id !== transferId));
    },
    onSettled: () => {
      void client.invalidateQueries({ queryKey: transferKeys.all(websiteId), exact: true });
      void client.invalidateQueries({ queryKey: peopleKeys.all(websiteId) });
    },
  });
};
