import type { CreateWebsiteRequest } from '@doorstep/sdk';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { newWebsiteKeys } from './keys.js';

/** What websites can be made from. */
export const templatesQuery = queryOptions({
  queryKey: newWebsiteKeys.templates,
  queryFn: ({ signal }) => doorstep.templates.list({ limit: 200 }, { signal }),
  staleTime: 600_000,
});

/** The tiers, and what each has. */
export const featuresQuery = queryOptions({
  queryKey: newWebsiteKeys.features,
  queryFn: ({ signal }) => doorstep.features.list({ signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Clients to choose from, by part of their name or address. */
export const clientChoiceQuery = (words: string) =>
  queryOptions({
    queryKey: newWebsiteKeys.clients(words),
    queryFn: ({ signal }) => doorstep.clients.list({ limit: 20, ...(words !== '' && { q: words }) }, { signal }),
    placeholderData: keepPreviousData,
  });

/** What creating a website would do; refused as creating it would be. */
export const planQuery = (body: CreateWebsiteRequest) =>
  queryOptions({
    queryKey: newWebsiteKeys.plan(body),
    queryFn: ({ signal }) => doorstep.websites.create(body, { dryRun: true, signal }),
    // Somebody else may take the slug meanwhile.
    staleTime: 0,
    gcTime: 0,
  });
