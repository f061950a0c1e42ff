import type { ProvisioningJob } from '@doorstep/sdk';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { provisioningKeys } from './keys.js';

/** The latest run of provisioning. */
export const provisioningQuery = (websiteId: string) =>
  queryOptions({
    queryKey: provisioningKeys.job(websiteId),
    queryFn: ({ signal }) => doorstep.websites.provisioning.get(websiteId, { signal }),
  });

/** What a run has made at the providers, asked anew whenever the run has come to another end. */
export const receiptsQuery = ({ websiteId, id, finishedAt = '', cleanup }: ProvisioningJob) =>
  queryOptions({
    queryKey: provisioningKeys.receipts(websiteId, [id, finishedAt, cleanup?.status].join(' ')),
    queryFn: ({ signal }) => doorstep.websites.provisioning.receipts(websiteId, { limit: 200 }, { signal }),
    placeholderData: keepPreviousData,
  });
