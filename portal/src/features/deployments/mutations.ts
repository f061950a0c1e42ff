import { useMutation, useQueryClient } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { websiteKeys } from '../website/keys.js';
import { deploymentKeys } from './keys.js';

/**
 * Builds the website from the newest commit. It is under way until the list of builds says so, where that
 * is shown. Nobody waits for what else is asked again: the part of a page that says what has come of it
 * may go away with the answer.
 */
export const useRedeploy = (websiteId: string) => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => doorstep.websites.redeploy(websiteId),
    onSettled: (_made, error) => {
      void client.invalidateQueries({ queryKey: websiteKeys.website(websiteId) });
      // Asked again by the line before: not once more. What went wrong is said at once.
      return error === null
        ? client.invalidateQueries({ queryKey: deploymentKeys.list(websiteId) }, { cancelRefetch: false })
        : undefined;
    },
  });
};
