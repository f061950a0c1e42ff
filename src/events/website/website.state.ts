import type { Recorded } from '../envelope.js';
import { withEntry, withItems, type StreamFold } from '../fold.js';
import type { Feature, Kept, SlugEvent, Tier, WebsiteEvent } from './website.events.js';
import { siteValuesOf, type SiteValues } from './siteValues.js';
import { slugStream, websiteStream } from './website.stream.js';

export type WebsiteState =
  /**
   * `abandoned`: it will never exist, or never again. `leftSlugs`: those of a deleted website, which
   * nobody else may have before they are freed.
   */
  | { readonly stage: 'none'; readonly abandoned?: true; readonly leftSlugs?: readonly string[] }
  | {
      readonly stage: 'provisioning' | 'active';
      readonly name: string;
      readonly slug: string;
      /** Where in the log it got its slug. */
      readonly slugPosition: bigint;
      /** Slugs that it had before. */
      readonly formerSlugs: readonly string[];
      /** Slugs that it reserved and never took, and where in the log it gave them up. */
      readonly forgone: ReadonlyMap<string, bigint>;
      readonly tier: Tier;
      readonly features: readonly Feature[];
      readonly brandColor?: string;
      readonly clientId?: string;
      /** Where in the log an owner was assigned last. */
      readonly ownerPosition: bigint;
      readonly archived: boolean;
      readonly provisioningJobId: string;
      /**
       * The slug at its creation, by which its things at the providers are named, unless a retry of the
       * provisioning named them by a later one.
       */
      readonly firstSlug: string;
      /** Present while its deletion is scheduled. */
      readonly deletion?: { readonly purgeAt: string; readonly keep: readonly Kept[] };
      /** What the site was built with that is served. */
      readonly built: SiteValues;
    };

export type ExistingWebsite = Exclude<WebsiteState, { stage: 'none' }>;

const changed = (state: WebsiteState, changes: Partial<ExistingWebsite>): WebsiteState =>
  state.stage === 'none' ? state : { ...state, ...changes };

const withoutField = (state: WebsiteState, field: 'clientId' | 'brandColor' | 'deletion'): WebsiteState => {
  if (state.stage === 'none') return state;
  const { [field]: _, ...others } = state;
  return others;
};

/** The same list when it does not hold the slug, so that the fold need not copy it. */
const without = (slugs: readonly string[], slug: string): readonly string[] =>
  slugs.includes(slug) ? slugs.filter((one) => one !== slug) : slugs;

const evolve = (state: WebsiteState, event: Recorded<WebsiteEvent>): WebsiteState => {
  switch (event.type) {
    case 'WebsiteCreated': {
      const { name, slug, tier, features, brandColor, clientId } = event.data;
      return {
        stage: 'provisioning',
        name,
        slug,
        tier,
        features,
        ...(brandColor !== undefined && { brandColor }),
        ...(clientId !== undefined && { clientId }),
        ownerPosition: event.position,
        archived: false,
        built: siteValuesOf(event.data),
        provisioningJobId: event.data.provisioningJobId,
        firstSlug: slug,
        slugPosition: event.position,
        formerSlugs: [],
        forgone: new Map(),
      };
    }
    case 'WebsiteCreationAbandoned':
      return state.stage === 'none' ? { stage: 'none', abandoned: true } : state;
    case 'WebsiteRenamed':
      return changed(state, { name: event.data.name });
    case 'WebsitePlanChanged':
      return changed(state, { tier: event.data.tier, features: event.data.features });
    case 'WebsiteBrandColorChanged':
      return changed(state, { brandColor: event.data.brandColor });
    case 'WebsiteSlugChanged': {
      if (state.stage === 'none') return state;
      const { slug, previousSlug } = event.data;
      return {
        ...state,
        slug,
        slugPosition: event.position,
        formerSlugs: withItems(without(state.formerSlugs, slug), previousSlug),
      };
    }
    case 'WebsiteSlugForgone':
      if (state.stage === 'none') return state;
      return { ...state, forgone: withEntry(state.forgone, event.data.slug, event.position) };
    case 'WebsiteBrandColorRemoved':
      return withoutField(state, 'brandColor');
    case 'WebsiteDeployed':
      return changed(state, { built: siteValuesOf(event.data) });
    case 'WebsiteOwnerAssigned':
      return changed(state, { clientId: event.data.clientId, ownerPosition: event.position });
    case 'WebsiteOwnerRemoved':
      return withoutField(state, 'clientId');
    case 'WebsiteActivated':
      return changed(state, { stage: 'active' });
    case 'WebsiteArchived':
      return changed(state, { archived: true });
    case 'WebsiteRestored':
      return withoutField(changed(state, { archived: false }), 'deletion');
    case 'WebsiteDeletionScheduled': {
      const { purgeAt, keep } = event.data;
      return changed(state, { deletion: { purgeAt, keep } });
    }
    case 'WebsiteDeleted':
      return { stage: 'none', abandoned: true, leftSlugs: event.data.slugs };
    default:
      return state;
  }
};

export const websiteFold: StreamFold<WebsiteState, WebsiteEvent, { readonly websiteId: string }> = {
  name: 'website',
  snapshotVersion: 2,
  stream: websiteStream,
  initialState: { stage: 'none' },
  evolve,
};

/** Who holds the slug. */
export type SlugState =
  | { readonly stage: 'free' }
  /** `position`: where in the log it was reserved. */
  | { readonly stage: 'reserved'; readonly websiteId: string; readonly at: string; readonly position: bigint }
  /** `until`: ISO 8601; before that it leads to the website that had it, and no other may have it. */
  | { readonly stage: 'released'; readonly websiteId: string; readonly until: string };

const evolveSlug = (_: SlugState, { type, data, metadata, position }: Recorded<SlugEvent>): SlugState => {
  const { websiteId } = data;
  if (type === 'SlugReserved') return { stage: 'reserved', websiteId, at: metadata.at, position };
  return data.reservedUntil === undefined ? { stage: 'free' } : { stage: 'released', websiteId, until: data.reservedUntil };
};

export const slugFold: StreamFold<SlugState, SlugEvent, { readonly slug: string }> = {
  name: 'slug',
  stream: slugStream,
  initialState: { stage: 'free' },
  droppedState: { stage: 'free' },
  evolve: evolveSlug,
};
