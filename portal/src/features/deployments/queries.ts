import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { deploymentKeys } from './keys.js';

const shown = { limit: 20 } as const;

/** How often a build is asked about: only the hosting provider knows, and it reports nothing by itself. */
const buildingMs = 2_000;

/**
 * The newest deployments; asked again while one is being built. A provider that cannot be asked is told
 * at once: the service has tried again itself.
 */
export const deploymentsQuery = (websiteId: string) =>
  queryOptions({
    queryKey: deploymentKeys.list(websiteId),
    queryFn: ({ signal }) => doorstep.websites.deployments.list(websiteId, shown, { signal, maxRetries: 0 }),
    refetchInterval: ({ state }) => (state.data?.[0]?.status === 'building' ? buildingMs : false),
  });

/** The newest commits. */
export const commitsQuery = (websiteId: string) =>
  queryOptions({
    queryKey: deploymentKeys.commits(websiteId),
    queryFn: ({ signal }) => doorstep.websites.commits.list(websiteId, shown, { signal, maxRetries: 0 }),
  });
