import type { Feature, Tier } from '../../events/website/website.events.js';
import { websiteIdsOfClient } from '../access/access.queries.js';
import { everyDocument } from '../everyDocument.js';
import { toQuery, type PageRequest } from '../page.js';
import { provisioningProjection, type ProvisioningDocument } from '../provisioning/provisioning.projection.js';
import type { Reader } from '../reader.js';
import { sortKeyIn } from '../store/documents.js';
import type { ReadModelQuery, Selection } from '../store/readModelStore.js';
import { websiteProjection, type WebsiteDocument } from './website.projection.js';

/** What websites a list is of. */
export interface WebsiteFilter {
  readonly status?: WebsiteDocument['status'];
  /** The owner, or a linked client. */
  readonly clientId?: string;
  readonly tier?: Tier;
  readonly feature?: Feature;
  /** The status of the latest provisioning job. */
  readonly provisioning?: ProvisioningDocument['status'];
  /** The archived ones; otherwise the others. */
  readonly archived?: boolean;
  /** A part of name or slug, case and diacritics apart. */
  readonly q?: string;
}

/** Fields that websites can be sorted by. */
export const websiteSorts = ['name', 'slug', 'status', 'createdAt'] as const;

/** By what a website stands where it does in a list that is sorted by the field. */
export const websiteSortKey = (website: WebsiteDocument, field: string): string => sortKeyIn(website, field);

/** Websites, newest first or sorted by one of `websiteSorts`. */
export const listWebsites = async (reader: Reader, query: WebsiteFilter & PageRequest): Promise<readonly WebsiteDocument[]> => {
  const found = await reader.list(websiteProjection, { ...(await selectionOf(reader, query)), ...toQuery(query) });
  return found.map(({ body }) => body);
};

/** How many websites the list is of. */
export const countWebsites = async (reader: Reader, filter: WebsiteFilter): Promise<number> =>
  reader.count(websiteProjection, await selectionOf(reader, filter));

const selectionOf = async (reader: Reader, filter: WebsiteFilter): Promise<Selection & Pick<ReadModelQuery, 'search'>> => {
  const { status, clientId, tier, feature, provisioning, archived, q } = filter;
  const ofClient = clientId === undefined ? {} : { ids: await websiteIdsOfClient(reader, clientId) };
  const ofJobs = provisioning === undefined ? {} : await provisionedSo(reader, provisioning);
  if (status !== undefined && ofJobs.status !== undefined && status !== ofJobs.status) return { ids: [] };
  return {
    where: {
      shelf: archived === true ? 'archived' : 'current',
      ...(ofJobs.status !== undefined && { status: ofJobs.status }),
      ...(status !== undefined && { status }),
      ...(tier !== undefined && { tier }),
      ...(feature !== undefined && { features: feature }),
    },
    ...restrictedTo(ofClient.ids, ofJobs.ids),
    ...(ofJobs.without !== undefined && { without: ofJobs.without }),
    ...(q !== undefined && q !== '' && { search: { fields: ['name', 'slug'], text: q } }),
  };
};

const restrictedTo = (one?: readonly string[], other?: readonly string[]): Pick<Selection, 'ids'> => {
  const ids = one === undefined || other === undefined ? (one ?? other) : one.filter((id) => other.includes(id));
  return ids === undefined ? {} : { ids };
};

/**
 * The websites whose latest job has the status. Jobs are documents of their own: those that run or
 * failed are few and listed, and from the others follows the status of the website. The jobs are
 * read first, so that what succeeded by then is active in the list of websites.
 */
const provisionedSo = async (
  reader: Reader,
  wanted: ProvisioningDocument['status'],
): Promise<Pick<Selection, 'ids' | 'without'> & { readonly status?: WebsiteDocument['status'] }> => {
  const websitesOf = async (status: readonly ProvisioningDocument['status'][]): Promise<readonly string[]> =>
    (await everyDocument(reader, provisioningProjection, { status })).map(({ websiteId }) => websiteId);
  switch (wanted) {
    case 'running':
    case 'failed':
      return { ids: await websitesOf([wanted]) };
    case 'succeeded':
      return { status: 'active', without: await websitesOf(['queued', 'running', 'failed']) };
    // A job that no worker has seen yet has no document.
    case 'queued':
      return { status: 'provisioning', without: await websitesOf(['running', 'failed']) };
  }
};
