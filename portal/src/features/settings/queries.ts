import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { toSaved } from '../../api/saved.js';
import { settingsKeys } from './keys.js';

/** The hostnames of a website, with the records that are to be set. */
export const domainsQuery = (websiteId: string) =>
  queryOptions({
    queryKey: settingsKeys.domains(websiteId),
    queryFn: ({ signal }) => doorstep.websites.domains.list(websiteId, { limit: 200 }, { signal }),
  });

/** What outside belongs to a website. */
export const servicesQuery = (websiteId: string) =>
  queryOptions({
    queryKey: settingsKeys.services(websiteId),
    queryFn: ({ signal }) => doorstep.websites.services.list(websiteId, { limit: 200 }, { signal }),
  });

/** The parts of a website, and where they stand on the map. */
export const blueprintQuery = (websiteId: string) =>
  queryOptions({
    queryKey: settingsKeys.blueprint(websiteId),
    queryFn: async ({ signal }) => toSaved(await doorstep.websites.blueprint.get(websiteId, { signal }).withResponse()),
  });
