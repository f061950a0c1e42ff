import type { Feature, Tier } from '../../events/website/website.events.js';
import { foldText, sortKeyOf } from '../../platform/foldText.js';
import { hasTerms, termsOfBeginning, termsWithin, type AskedTerms } from '../../platform/searchTerms.js';
import { pagesOfWebsiteIds, websiteIdsOfClient } from '../access/access.queries.js';
import { deliveryProjection } from '../delivery/delivery.projection.js';
import { summaryOfDelivery, type DeliverySummary } from '../delivery/delivery.summary.js';
import { toQuery, type PageRequest } from '../page.js';
import type { ProvisioningDocument } from '../provisioning/provisioning.projection.js';
import { provisioningJob } from '../provisioning/provisioning.queries.js';
import { summaryOfProvisioning, type ProvisioningSummary } from '../provisioning/provisioning.summary.js';
import type { Reader } from '../reader.js';
import { ProjectionBehind } from '../runner/versions.js';
import { ReadModelStoreUnavailable, type ReadModelQuery, type Selection } from '../store/readModelStore.js';
import { overviewProjection, type WebsiteOverview } from './overview.projection.js';
import type { WebsiteDocument } from './website.projection.js';

/** What websites a list is of. */
export interface WebsiteFilter {
  readonly status?: WebsiteDocument['status'];
  /** The owner, or a linked client. */
  readonly clientId?: string;
  readonly slug?: string;
  readonly tier?: Tier;
  readonly feature?: Feature;
  /** The status of the latest provisioning job. */
  readonly provisioning?: ProvisioningDocument['status'];
  readonly attention?: WebsiteOverview['attention'][number];
  /** Those whose delivery is late at this time, ISO 8601 UTC. */
  readonly lateAt?: string;
  /** The archived ones; otherwise the others. */
  readonly archived?: boolean;
  /** A part of name or slug, case and diacritics apart. */
  readonly q?: string;
}

/** A website as lists show it. */
export interface ListedWebsite {
  readonly website: WebsiteDocument;
  readonly provisioning: ProvisioningSummary;
  /** Absent before it was set up. */
  readonly delivery?: DeliverySummary;
}

/** Fields that websites can be sorted by. */
export const websiteSorts = ['name', 'slug', 'status', 'createdAt', 'estimatedCompletionAt'] as const;

type Order = 'ascending' | 'descending';

/** The field of the read model: websites without an ETA are last in either order. */
const sortField = (field: string, order: Order): string =>
  field !== 'estimatedCompletionAt' ? field : order === 'ascending' ? 'etaAscending' : 'etaDescending';

/** By what a website stands where it does in a list that is sorted by the field. */
export const websiteSortKey = (overview: WebsiteOverview, field: string, order: Order): string => {
  const value: unknown = overview[sortField(field, order) as keyof WebsiteOverview];
  return sortKeyOf(typeof value === 'string' ? value : '');
};

/** Websites with what lists say of them, newest first or sorted by one of `websiteSorts`. */
export const listOverviews = async (reader: Reader, query: WebsiteFilter & PageRequest): Promise<readonly WebsiteOverview[]> => {
  const { sort, status } = query;
  const page = toQuery(sort === undefined ? query : { ...query, sort: { ...sort, by: sortField(sort.by, sort.order) } });
  const { sort: _, ...byId } = page;
  // Those of one status are in its order by id, without passing over all others.
  const isById = sort?.by === 'status' && status !== undefined && (sort.afterKey ?? status) === status;
  if (query.clientId !== undefined && sort === undefined) return newestOfClient(reader, query, query.clientId);
  const found = await reader.list(overviewProjection, { ...(await selectionOf(reader, query)), ...(isById ? byId : page) });
  return found.map(({ body }) => body);
};

/** Those of a client, newest first: of the ids of all their websites no more are read than are needed. */
const newestOfClient = async (
  reader: Reader,
  { clientId: _, after, limit, ...filter }: WebsiteFilter & PageRequest,
  clientId: string,
): Promise<readonly WebsiteOverview[]> => {
  const selection = await selectionOf(reader, filter);
  const found: WebsiteOverview[] = [];
  for await (const ids of pagesOfWebsiteIds(reader, clientId, after)) {
    const page = await reader.list(overviewProjection, { ...selection, ids, order: 'descending', limit: limit - found.length });
    found.push(...page.map(({ body }) => body));
    if (found.length >= limit) break;
  }
  return found;
};

/** As `listOverviews`, the websites alone. */
export const listWebsites = async (reader: Reader, query: WebsiteFilter & PageRequest): Promise<readonly WebsiteDocument[]> =>
  (await listOverviews(reader, query)).map(({ website }) => website);

/** How many websites the list is of. */
export const countWebsites = async (reader: Reader, filter: WebsiteFilter): Promise<number> =>
  reader.count(overviewProjection, await selectionOf(reader, filter));

/** Whether lists say that the last deployment that was asked for has failed; not while they cannot be read. */
export const isListedAsFailed = async (reader: Reader, websiteId: string): Promise<boolean> => {
  try {
    const [found] = await reader.list(overviewProjection, { ids: [websiteId], order: 'descending', limit: 1 });
    return found?.body.deployments?.failed === true;
  } catch (error) {
    // Who asks is about to deploy, which needs no read model.
    if (error instanceof ProjectionBehind || error instanceof ReadModelStoreUnavailable) return false;
    throw error;
  }
};

const selectionOf = async (reader: Reader, filter: WebsiteFilter): Promise<Selection & Pick<ReadModelQuery, 'search'>> => {
  const { status, clientId, slug, tier, feature, provisioning, attention, lateAt, archived, q = '' } = filter;
  return {
    where: {
      shelf: archived === true ? 'archived' : 'current',
      ...(status !== undefined && { status }),
      ...(slug !== undefined && { slug }),
      ...(tier !== undefined && { tier }),
      ...(feature !== undefined && { features: feature }),
      ...(provisioning !== undefined && { provisioning }),
      ...(attention !== undefined && { attention }),
    },
    ...(lateAt !== undefined && { below: { field: 'lateFrom', text: lateAt } }),
    ...(clientId !== undefined && { ids: await websiteIdsOfClient(reader, clientId) }),
    ...(q !== '' && { ...havingTerms(termsWithin(q)), search: { fields: ['name', 'slug'], text: q } }),
  };
};

const havingTerms = ({ all, beginning }: AskedTerms): Pick<Selection, 'having' | 'beginning'> => ({
  having: { terms: all },
  ...(beginning !== undefined && { beginning: { field: 'terms', text: beginning } }),
});

/**
 * Websites whose slug is the text, then those in whose name or slug a word begins with it, then
 * those that contain it; the newest of each first. A text of one or two characters finds beginnings
 * only. Archived ones are left out.
 * @param ids only these
 */
export const searchWebsites = async (
  reader: Reader,
  text: string,
  limit: number,
  ids?: readonly string[],
): Promise<readonly WebsiteDocument[]> => {
  const searched = foldText(text);
  const begun = termsOfBeginning(searched);
  // Of one or two characters there are too many parts for somebody who types.
  const parts = termsWithin(searched).all.length > 0 ? termsWithin(searched) : null;
  const find = async (selection: Selection & Pick<ReadModelQuery, 'search'>): Promise<readonly WebsiteOverview[]> => {
    const where = { shelf: 'current', ...selection.where };
    const query = { ...selection, where, order: 'descending', limit, ...(ids !== undefined && { ids }) } as const;
    return (await reader.list(overviewProjection, query)).map(({ body }) => body);
  };
  const findAll = async (terms: AskedTerms | null): Promise<readonly WebsiteOverview[]> =>
    terms === null ? [] : find({ ...havingTerms(terms), search: { fields: ['name', 'slug'], text: searched } });

  const containing = await findAll(parts);
  const isSlug = ({ slug }: WebsiteOverview): boolean => slug === searched;
  const isBegun = ({ terms }: WebsiteOverview): boolean => begun !== null && hasTerms(terms, begun);
  // Fewer than were asked for are all, so that the first of them need not be looked for.
  const isWhole = parts !== null && containing.length < limit;
  const exact = isWhole ? containing.filter(isSlug) : await find({ where: { slug: searched } });
  // When all of the newest begin so, these are the newest of those that do.
  const isKnown = isWhole || (parts !== null && containing.every(isBegun));
  const beginning = isKnown ? containing.filter(isBegun) : await findAll(begun);
  const first = [...exact, ...beginning];
  const websites = [...first, ...containing].map(({ website }) => website);
  return [...new Map(websites.map((website) => [website.id, website] as const)).values()].slice(0, limit);
};

export const toListed = ({ website, job, delivery }: Pick<WebsiteOverview, 'website' | 'job' | 'delivery'>): ListedWebsite => ({
  website,
  provisioning: summaryOfProvisioning(job),
  ...(delivery !== undefined && { delivery: summaryOfDelivery(delivery) }),
});

/** The website as lists show it, as of now. */
export const listedNow = async (reader: Reader, website: WebsiteDocument): Promise<ListedWebsite> => {
  const [{ document: job }, { document: delivery }] = await Promise.all([
    provisioningJob(reader, website),
    reader.read(deliveryProjection, website.id),
  ]);
  return toListed({ website, job, ...(delivery !== null && { delivery }) });
};
