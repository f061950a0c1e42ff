import type { DeliveryBlock } from '@doorstep/sdk';
import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { deliveryKeys } from '../delivery/keys.js';

/** Reports that the caller looked at a revision. */
export const useMarkSeen = (websiteId: string): UseMutationResult<void, Error, number> =>
  useMutation({ mutationFn: (revision: number) => doorstep.websites.delivery.markSeen(websiteId, revision) });

/** Makes a plan of the usual steps. */
export const useSetUp = (websiteId: string): UseMutationResult<DeliveryBlock, Error, void> => {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => doorstep.websites.delivery.replace(websiteId, {}),
    onSuccess: (block) => queries.setQueryData(deliveryKeys.block(websiteId), block),
  });
};
