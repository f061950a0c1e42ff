import type { OfferTransferRequest } from '@doorstep/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { websiteKeys } from '../website/keys.js';

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
    onSettled: () => void client.invalidateQueries({ queryKey: websiteKeys.website(websiteId) }),
  });
};
