import { useMutation, useQueryClient } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { deploymentKeys } from './keys.js';

/** Builds the website from the newest commit. */
export const useRedeploy = (websiteId: string) => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => doorstep.websites.redeploy(websiteId),
    onSettled: () => client.invalidateQueries({ queryKey: deploymentKeys.list(websiteId) }),
  });
};
