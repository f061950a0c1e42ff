import { isoTime } from '../../platform/clock.js';
import { areSameValues } from '../../events/website/siteValues.js';
import {
  features as allFeatures,
  keepable,
  tiers,
  type Feature,
  type SlugEvent,
  type Tier,
  type WebsiteEvent,
} from '../../events/website/website.events.js';
import {
  slugFold,
  websiteFold,
  type ExistingWebsite,
  type SlugState,
  type WebsiteState,
} from '../../events/website/website.state.js';
import type { Decider } from '../decider.js';
import { refusals, type Refusal } from '../refusal.js';
import type { SlugCommand, WebsiteCommand } from './website.commands.js';

const lowestTier: Readonly<Record<Feature, Tier>> = {
  content: 'starter',
  documents: 'starter',
  analytics: 'starter',
  marketing: 'growth',
  seo: 'growth',
  scheduling: 'growth',
  commerce: 'scale',
  blueprint: 'scale',
};

/** What a new website has unless it says more. */
export const defaultTier: Tier = 'starter';

export const featuresOf = (tier: Tier): readonly Feature[] =>
  allFeatures.filter((feature) => tiers.indexOf(lowestTier[feature]) <= tiers.indexOf(tier));

const notOnTier = (features: readonly Feature[], tier: Tier): Refusal | null => {
  const tooHigh = features.find((feature) => !featuresOf(tier).includes(feature));
  return tooHigh === undefined ? null : refusals.featureNotOnTier(tooHigh, tier);
};

const inCatalogueOrder = (features: readonly Feature[]): Feature[] => allFeatures.filter((feature) => features.includes(feature));

const create = (
  command: Extract<WebsiteCommand, { type: 'CreateWebsite' }>,
  state: WebsiteState,
): readonly WebsiteEvent[] | Refusal => {
  // The id is derived from the command, so an existing website was made by this same command.
  if (state.stage !== 'none') return [];
  // The creation took so long that another website took over the slug.
  if (state.abandoned === true) return refusals.slugTaken();
  const { websiteId, name, slug, templateId, tier, features, brandColor, clientId, collaborators, provisioningJobId } = command;
  const asked = features ?? featuresOf(tier);
  return (
    notOnTier(asked, tier) ?? [
      {
        type: 'WebsiteCreated',
        data: {
          websiteId,
          name,
          slug,
          templateId,
          tier,
          features: inCatalogueOrder(asked),
          ...(brandColor !== undefined && { brandColor }),
          ...(clientId !== undefined && { clientId }),
          collaborators: [...collaborators],
          provisioningJobId,
        },
      },
    ]
  );
};

/**
 * After a change of tier, newly offered features are on, features that are not offered are off, and
 * features that were switched off stay off.
 */
const carriedOver = (state: ExistingWebsite, tier: Tier): readonly Feature[] =>
  featuresOf(tier).filter((feature) => state.features.includes(feature) || !featuresOf(state.tier).includes(feature));

const removeOwner = (websiteId: string, clientId: string | undefined): readonly WebsiteEvent[] =>
  clientId === undefined ? [] : [{ type: 'WebsiteOwnerRemoved', data: { websiteId, clientId } }];

const change = (
  command: Extract<WebsiteCommand, { type: 'ChangeWebsite' }>,
  state: ExistingWebsite,
): readonly WebsiteEvent[] | Refusal => {
  const { websiteId, name, slug, reservationPosition, brandColor, clientId } = command;
  const { offerPosition = state.ownerPosition } = command;
  const tier = command.tier === null ? defaultTier : (command.tier ?? state.tier);
  const chosen = command.features === null ? featuresOf(tier) : command.features;
  const features = inCatalogueOrder(chosen ?? carriedOver(state, tier));
  const refusal = notOnTier(features, tier);
  if (refusal !== null) return refusal;

  const events: WebsiteEvent[] = [];
  if (name !== undefined && name !== state.name) events.push({ type: 'WebsiteRenamed', data: { websiteId, name } });
  if (tier !== state.tier || features.join() !== state.features.join()) {
    events.push({ type: 'WebsitePlanChanged', data: { websiteId, tier, features } });
  }
  if (slug !== undefined && slug !== state.slug) {
    const forgoneAt = state.forgone.get(slug);
    const isVoid = forgoneAt !== undefined && (reservationPosition === undefined || reservationPosition < forgoneAt);
    if (isVoid) return refusals.slugTaken();
    events.push({ type: 'WebsiteSlugChanged', data: { websiteId, slug, previousSlug: state.slug } });
  }
  if (brandColor === null) {
    if (state.brandColor !== undefined) events.push({ type: 'WebsiteBrandColorRemoved', data: { websiteId } });
  } else if (brandColor !== undefined && brandColor !== state.brandColor) {
    events.push({ type: 'WebsiteBrandColorChanged', data: { websiteId, brandColor } });
  }
  if (clientId === null) events.push(...removeOwner(websiteId, state.clientId));
  else if (clientId !== undefined && clientId !== state.clientId) {
    if (offerPosition < state.ownerPosition) return refusals.transferNotFound();
    events.push({
      type: 'WebsiteOwnerAssigned',
      data: { websiteId, clientId, ...(state.clientId !== undefined && { previousClientId: state.clientId }) },
    });
  }
  return events;
};

/**
 * Refused once the website has the slug, or had it: creation, or a change to it, and abandonment
 * exclude each other. What a deleted website has left bears its slugs' names until they are freed.
 */
const abandon = (websiteId: string, slug: string, state: WebsiteState): readonly WebsiteEvent[] | Refusal => {
  if (state.stage !== 'none') {
    if (state.slug === slug || state.formerSlugs.includes(slug)) return refusals.slugTaken();
    return [{ type: 'WebsiteSlugForgone', data: { websiteId, slug } }];
  }
  if (state.leftSlugs?.includes(slug) === true) return refusals.slugTaken();
  return state.abandoned === true ? [] : [{ type: 'WebsiteCreationAbandoned', data: { websiteId } }];
};

/** How long a deletion can be taken back, in milliseconds. */
const DELETION_DELAY_MS = 30 * 86_400_000;

const scheduleDeletion = (
  { websiteId, keep, at }: Extract<WebsiteCommand, { type: 'ScheduleDeletion' }>,
  { deletion: scheduled }: ExistingWebsite,
): readonly WebsiteEvent[] => {
  const named = keep ?? scheduled?.keep ?? [];
  const kept = keepable.filter((one) => named.includes(one));
  if (scheduled?.keep.join() === kept.join()) return [];
  const purgeAt = scheduled?.purgeAt ?? isoTime(Date.parse(at) + DELETION_DELAY_MS);
  return [{ type: 'WebsiteDeletionScheduled', data: { websiteId, purgeAt, keep: kept } }];
};

const deletion = (websiteId: string, state: ExistingWebsite): readonly WebsiteEvent[] => {
  const { clientId, firstSlug: name, provisioningJobId, slug, formerSlugs } = state;
  const keep = [...(state.deletion?.keep ?? [])];
  return [
    ...removeOwner(websiteId, clientId),
    { type: 'WebsiteDeleted', data: { websiteId, keep, name, provisioningJobId, slugs: [slug, ...formerSlugs] } },
  ];
};

/** Nothing when the site was built with the same values before. */
const deployed = (
  websiteId: string,
  { deploymentId, values }: Pick<Extract<WebsiteCommand, { type: 'RecordDeployment' }>, 'deploymentId' | 'values'>,
  { built }: ExistingWebsite,
): readonly WebsiteEvent[] =>
  areSameValues(values, built) ? [] : [{ type: 'WebsiteDeployed', data: { websiteId, deploymentId, ...values } }];

const decide = (command: WebsiteCommand, state: WebsiteState): readonly WebsiteEvent[] | Refusal => {
  if (command.type === 'CreateWebsite') return create(command, state);
  const { websiteId } = command;
  if (command.type === 'AbandonWebsite') return abandon(websiteId, command.slug, state);
  if (state.stage === 'none') return refusals.websiteNotFound(websiteId);
  switch (command.type) {
    case 'ChangeWebsite':
      return state.archived ? refusals.websiteArchived(websiteId) : change(command, state);
    case 'ActivateWebsite': {
      // A run that was under way when the website was archived still ends.
      const { repository, hosting, url, shown } = command;
      if (state.stage === 'active') return [];
      const activated: WebsiteEvent = { type: 'WebsiteActivated', data: { websiteId, repository, hosting, url } };
      return [...(shown === undefined ? [] : deployed(websiteId, shown, state)), activated];
    }
    case 'ScheduleDeletion':
      return state.archived ? scheduleDeletion(command, state) : refusals.websiteNotArchived(websiteId);
    case 'DeleteWebsite':
      return command.purgeAt === state.deletion?.purgeAt && command.purgeAt <= command.at ? deletion(websiteId, state) : [];
    case 'RecordDeployment':
      return deployed(websiteId, command, state);
    case 'RemoveOwner': {
      // Also for an archived website: access can always be taken away.
      const { clientId } = command;
      return state.clientId === clientId ? removeOwner(websiteId, clientId) : [];
    }
    case 'ArchiveWebsite':
      return state.archived ? [] : [{ type: 'WebsiteArchived', data: { websiteId } }];
    case 'RestoreWebsite':
      return state.archived ? [{ type: 'WebsiteRestored', data: { websiteId } }] : [];
    default:
      return command satisfies never;
  }
};

export const websiteDecider: Decider<WebsiteState, WebsiteCommand, WebsiteEvent> = { ...websiteFold, decide };

/** After this time, in milliseconds, a reservation without a website may be taken over. */
export const reservationMs = 60_000;

const reserve = (
  { slug, websiteId, abandonedBy, validFrom, at }: Extract<SlugCommand, { type: 'ReserveSlug' }>,
  state: SlugState,
): readonly SlugEvent[] | Refusal => {
  const reserved: readonly SlugEvent[] = [{ type: 'SlugReserved', data: { slug, websiteId } }];
  if (state.stage === 'free') return reserved;
  if (state.stage === 'released') return state.websiteId === websiteId || state.until <= at ? reserved : refusals.slugTaken();
  if (state.websiteId === websiteId) return validFrom !== undefined && state.position < validFrom ? reserved : [];
  const lapsed = Date.parse(at) - Date.parse(state.at) >= reservationMs;
  return state.websiteId === abandonedBy && lapsed ? reserved : refusals.slugTaken();
};

export const slugDecider: Decider<SlugState, SlugCommand, SlugEvent> = {
  ...slugFold,
  decide: (command, state) => {
    if (command.type === 'ReserveSlug') return reserve(command, state);
    if (command.type === 'FreeSlug') {
      const isTheirs = state.stage !== 'free' && state.websiteId === command.websiteId;
      return isTheirs ? [{ type: 'SlugReleased', data: { slug: command.slug, websiteId: command.websiteId } }] : [];
    }
    const { slug, websiteId, position, reservedUntil } = command;
    if (state.stage !== 'reserved' || state.websiteId !== websiteId || state.position > position) return [];
    return [{ type: 'SlugReleased', data: { slug, websiteId, reservedUntil } }];
  },
};
