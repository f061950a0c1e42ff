import type { DeliveryBlock } from '../../events/delivery/delivery.block.js';
import type { DeliveryEvent } from '../../events/delivery/delivery.events.js';
import type { RedeployEvent } from '../../events/deployment/deployment.events.js';
import type { Recorded } from '../../events/envelope.js';
import type { ProvisioningEvent } from '../../events/provisioning/provisioning.events.js';
import type { SiteEvent } from '../../events/site/site.events.js';
import type { WebsiteEvent } from '../../events/website/website.events.js';
import { copyWith } from '../../platform/copyWith.js';
import { termsOf } from '../../platform/searchTerms.js';
import { deliveryProjection } from '../delivery/delivery.projection.js';
import { lateFrom, summaryOfDelivery } from '../delivery/delivery.summary.js';
import type { ListProjection } from '../projection.js';
import { provisioningProjection, queuedJob, type ProvisioningDocument } from '../provisioning/provisioning.projection.js';
import { websiteProjection, type WebsiteDocument } from './website.projection.js';

/** Of the deployments that were asked for. */
type Deployments = {
  /** Ids of those that are queued with a change. */
  readonly queued: readonly string[];
  /** Whether the last one has failed, as far as is known. */
  readonly failed: boolean;
};

/**
 * A website with its delivery and its provisioning, for lists: what these are filtered and sorted by
 * comes from several streams (docs/adr/0025-overview-and-search.md).
 */
export type WebsiteOverview = {
  readonly website: WebsiteDocument;
  /** Without what its steps put out, of which lists say nothing: it would be a third of the document. */
  readonly job: ProvisioningDocument;
  /** Absent before it was set up. */
  readonly delivery?: DeliveryBlock;
  /** Absent while nothing is queued and nothing has failed. */
  readonly deployments?: Deployments;

  // What documents are found and sorted by.
  readonly shelf: WebsiteDocument['shelf'];
  readonly status: WebsiteDocument['status'];
  readonly tier: WebsiteDocument['tier'];
  readonly features: WebsiteDocument['features'];
  readonly provisioning: ProvisioningDocument['status'];
  readonly name: string;
  readonly slug: string;
  readonly createdAt: string;
  readonly attention: readonly ('failed' | 'waiting')[];
  /** The ETA; websites without one come last in either order. */
  readonly etaAscending: string;
  readonly etaDescending: string;
  /** From this time on it is late. */
  readonly lateFrom: string;
  readonly terms: readonly string[];
};

type DeploymentEvent =
  | RedeployEvent
  | Extract<SiteEvent, { type: 'SiteRedeployQueued' | 'SiteRedeployed' | 'SiteRedeployFailed' | 'SiteUpdateFailed' }>;
type OverviewEvent = WebsiteEvent | DeliveryEvent | ProvisioningEvent | DeploymentEvent;
type Facts = Pick<WebsiteOverview, 'website' | 'job' | 'delivery' | 'deployments'>;

/** Sorts after every time. */
const never = 'never';

const deploymentTypes: readonly DeploymentEvent['type'][] = [
  'RedeployRequested',
  'RedeployStarted',
  'RedeployNotStarted',
  'SiteRedeployQueued',
  'SiteRedeployed',
  'SiteRedeployFailed',
  'SiteUpdateFailed',
];

/** A build that ends after its start is not followed, unless it is queued: then its outcome is recorded. */
const deploymentsAfter = (event: DeploymentEvent, { queued, failed }: Deployments): Deployments => {
  switch (event.type) {
    case 'RedeployRequested':
      return { queued, failed: false };
    case 'RedeployStarted':
      return { queued, failed: event.data.failed === true };
    case 'RedeployNotStarted':
      return { queued, failed: true };
    case 'SiteRedeployQueued':
      return { queued: [...queued, event.data.redeployId], failed: false };
    case 'SiteRedeployed':
      return { queued: without(event.data.redeployId, queued), failed: false };
    case 'SiteRedeployFailed':
      return { queued: without(event.data.redeployId, queued), failed: true };
    case 'SiteUpdateFailed':
      // Given up, and what is queued with it.
      return event.data.nextAttemptAt === undefined && queued.length > 0 ? { queued: [], failed: true } : { queued, failed };
  }
};

const without = (redeployId: string, queued: Deployments['queued']): Deployments['queued'] =>
  queued.filter((id) => id !== redeployId);

const isOf = <Event extends OverviewEvent>(
  { handles }: { readonly handles: readonly Event['type'][] },
  event: Recorded,
): event is Recorded<Event> => (handles as readonly string[]).includes(event.type);

const overviewOf = (facts: Facts, before: WebsiteOverview | null): WebsiteOverview => {
  const { website, job, delivery, deployments } = facts;
  const { shelf, status, tier, features, name, slug, createdAt } = website;
  const needed = delivery === undefined ? [] : summaryOfDelivery(delivery).neededFromClient;
  const isKnown = before?.name === name && before.slug === slug;
  return {
    shelf,
    status,
    tier,
    features,
    provisioning: job.status,
    name,
    slug,
    createdAt,
    attention: [
      ...(job.status === 'failed' || deployments?.failed === true ? (['failed'] as const) : []),
      ...(needed.length > 0 ? (['waiting'] as const) : []),
    ],
    etaAscending: delivery?.estimatedCompletionAt ?? never,
    etaDescending: delivery?.estimatedCompletionAt ?? '',
    lateFrom: (delivery === undefined ? undefined : lateFrom(delivery)) ?? never,
    terms: isKnown ? before.terms : termsOf([name, slug]),
    // Last: a spread that further fields follow makes a hidden class for each document.
    ...facts,
  };
};

export const overviewProjection: ListProjection<WebsiteOverview, OverviewEvent> = {
  name: 'overview',
  version: 5,
  readsFrom: 1,
  handles: [...websiteProjection.handles, ...deliveryProjection.handles, ...provisioningProjection.handles, ...deploymentTypes],
  ignores: [
    ...websiteProjection.ignores,
    ...deliveryProjection.ignores,
    ...provisioningProjection.ignores,
    'SiteUpdateReopened',
    'SiteUpdateStarted',
    'SiteUpdateLeaseRenewed',
    'SiteVariablesSet',
    'SiteServingChanged',
  ],
  documentId: ({ data: { websiteId } }) => websiteId,
  evolve: (overview, recorded) => {
    const event: Recorded = recorded;
    if (isOf<WebsiteEvent>(websiteProjection, event)) {
      const website = websiteProjection.evolve(overview?.website ?? null, event);
      if (website === null) return null;
      const { id: websiteId, provisioningJobId: id, createdAt } = website;
      const facts: Facts = overview ?? { website, job: queuedJob({ id, websiteId, createdAt }) };
      return overviewOf({ ...factsOf(facts), website }, overview);
    }
    // What processes record of a deleted website changes nothing.
    if (overview === null) return null;
    const facts = factsOf(overview);
    if (isOf<DeliveryEvent>(deliveryProjection, event)) {
      const delivery = deliveryProjection.evolve(overview.delivery ?? null, event);
      return delivery === null ? overview : overviewOf(copyWith(facts, { delivery }), overview);
    }
    if (isOf<ProvisioningEvent>(provisioningProjection, event)) {
      const job = provisioningProjection.evolve(overview.job, event);
      return job === null ? overview : overviewOf({ ...facts, job: withoutOutputs(job) }, overview);
    }
    if (isOf<DeploymentEvent>({ handles: deploymentTypes }, event)) {
      const { deployments: before = { queued: [], failed: false }, ...others } = facts;
      const deployments = deploymentsAfter(event, before);
      const isQuiet = deployments.queued.length === 0 && !deployments.failed;
      return overviewOf(isQuiet ? others : { ...others, deployments }, overview);
    }
    return overview;
  },
  indexes: [
    { field: 'shelf' },
    { field: 'status' },
    { field: 'tier' },
    { field: 'features' },
    { field: 'provisioning' },
    { field: 'attention', since: 3 },
    { field: 'terms', since: 2 },
    { field: 'slug' },
    { field: 'name', sorts: true },
    { field: 'slug', sorts: true },
    { field: 'status', sorts: true },
    { field: 'createdAt', sorts: true },
    { field: 'etaAscending', sorts: true },
    { field: 'etaDescending', sorts: true },
    { field: 'lateFrom', sorts: true, since: 3 },
  ],
  counted: ['shelf', 'status', 'tier', 'features', 'provisioning', 'attention'],
};

const withoutOutputs = (job: ProvisioningDocument): ProvisioningDocument =>
  copyWith(job, { steps: job.steps.map(({ id, status, attempts }) => ({ id, status, attempts })) });

const factsOf = ({ website, job, delivery, deployments }: Facts): Facts => ({
  website,
  job,
  ...(delivery !== undefined && { delivery }),
  ...(deployments !== undefined && { deployments }),
});
