import { useMutation, useQueryClient } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { provisioningKeys } from './keys.js';

/** Lets a run that failed go on from the step that failed. */
export const useRetry = (websiteId: string) => {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => doorstep.websites.provisioning.retry(websiteId),
    onSuccess: (job) => queryClient.setQueryData(provisioningKeys.job(websiteId), job),
  });
};

/** Removes what a run that failed has made. */
export const useCleanUp = (websiteId: string) => {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => doorstep.websites.provisioning.cleanUp(websiteId),
    onSuccess: (job) => queryClient.setQueryData(provisioningKeys.job(websiteId), job),
  });
};
