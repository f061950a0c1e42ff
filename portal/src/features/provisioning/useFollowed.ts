import type { ProvisioningJob, Website } from '@doorstep/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { doorstep } from '../../api/doorstep.js';
import { websiteKeys } from '../website/keys.js';
import { provisioningKeys } from './keys.js';

/** Keeps the run up to date until all that it leads to has ended: the website is active, or what the run made is removed. */
export const useFollowed = (websiteId: string, job: ProvisioningJob | undefined, website: Website | undefined): void => {
  const queryClient = useQueryClient();
  const isUnderWay = job?.status === 'queued' || job?.status === 'running';
  const isSettling = job?.cleanup?.status === 'running' || (job?.status === 'succeeded' && website?.status === 'provisioning');

  useEffect(() => {
    if (!isUnderWay) return undefined;
    const { signal, abort } = abortable();
    const follow = async (): Promise<void> => {
      for await (const next of doorstep.websites.provisioning.watch(websiteId, { signal })) {
        queryClient.setQueryData(provisioningKeys.job(websiteId), next);
      }
    };
    void follow()
      .catch(() => undefined)
      // It has ended, or broke off: what it could not say is asked.
      .then(() => (signal.aborted ? undefined : queryClient.invalidateQueries({ queryKey: websiteKeys.website(websiteId) })));
    return abort;
  }, [queryClient, websiteId, isUnderWay]);

  // The stream of a run ends with it: what comes of it is among the changes of the website.
  useEffect(() => {
    if (!isSettling) return undefined;
    const { signal, abort } = abortable();
    const follow = async (): Promise<void> => {
      for await (const { event } of doorstep.websites.watch(websiteId, { signal })) {
        if (['ready', 'provisioning', 'website', 'reset'].includes(event)) {
          await queryClient.invalidateQueries({ queryKey: websiteKeys.website(websiteId) });
        }
      }
    };
    // A stream that cannot be had is no fault of the page: it asks again when the reader comes back to it.
    follow().catch(() => undefined);
    return abort;
  }, [queryClient, websiteId, isSettling]);
};

const abortable = (): { readonly signal: AbortSignal; readonly abort: () => void } => {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
};
