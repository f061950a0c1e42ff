import { useMutation, useQueryClient } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { websiteKeys } from '../website/keys.js';

/**
 * Builds the website from the newest commit. Nobody waits for what is asked again then: the part of a
 * page that says what has come of it may go away with the answer.
 */
export const useRedeploy = (websiteId: string) => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => doorstep.websites.redeploy(websiteId),
    onSettled: () => void client.invalidateQueries({ queryKey: websiteKeys.website(websiteId) }),
  });
};
