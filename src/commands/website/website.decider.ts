import {
  features as allFeatures,
  tiers,
  type Feature,
  type SlugEvent,
  type Tier,
  type WebsiteEvent,
} from '../../events/website/website.events.js';
import type { Decider } from '../decider.js';
import { refusals, type Refusal } from '../refusal.js';
import type { SlugCommand, WebsiteCommand } from './website.commands.js';

/** Stream `website-<id>`. */
export type WebsiteState =
  /** `abandoned`: it will never exist. */
  | { readonly stage: 'none'; readonly abandoned?: true }
  | {
      readonly stage: 'provisioning' | 'active';
      readonly name: string;
      readonly tier: Tier;
      readonly features: readonly Feature[];
      readonly brandColor?: string;
      readonly clientId?: string;
      readonly archived: boolean;
    };

type Existing = Exclude<WebsiteState, { stage: 'none' }>;

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

export const featuresOf = (tier: Tier): readonly Feature[] =>
  allFeatures.filter((feature) => tiers.indexOf(lowestTier[feature]) <= tiers.indexOf(tier));

const changed = (state: WebsiteState, changes: Partial<Existing>): WebsiteState =>
  state.stage === 'none' ? state : { ...state, ...changes };

const withoutOwner = (state: WebsiteState): WebsiteState => {
  if (state.stage === 'none') return state;
  const { clientId: _, ...others } = state;
  return others;
};

const evolve = (state: WebsiteState, event: WebsiteEvent): WebsiteState => {
  switch (event.type) {
    case 'WebsiteCreated': {
      const { name, tier, features, brandColor, clientId } = event.data;
      return {
        stage: 'provisioning',
        name,
        tier,
        features,
        ...(brandColor !== undefined && { brandColor }),
        ...(clientId !== undefined && { clientId }),
        archived: false,
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
    case 'WebsiteOwnerAssigned':
      return changed(state, { clientId: event.data.clientId });
    case 'WebsiteOwnerRemoved':
      return withoutOwner(state);
    case 'WebsiteActivated':
      return changed(state, { stage: 'active' });
    case 'WebsiteArchived':
      return changed(state, { archived: true });
    case 'WebsiteRestored':
      return changed(state, { archived: false });
    default:
      return state;
  }
};

const notOnTier = (features: readonly Feature[], tier: Tier): Refusal | null => {
  const tooHigh = features.find((feature) => !featuresOf(tier).includes(feature));
  return tooHigh === undefined ? null : refusals.featureNotOnTier(tooHigh, tier);
};

const inCatalogueOrder = (features: readonly Feature[]): Feature[] => allFeatures.filter((feature) => features.includes(feature));

const create = (
  command: Extract<WebsiteCommand, { type: 'CreateWebsite' }>,
  state: WebsiteState,
): readonly WebsiteEvent[] | Refusal => {
  // The id is derived from the command, so an existing website is this very command's.
  if (state.stage !== 'none') return [];
  // It was held up for so long that somebody else took the slug over.
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

/** On another tier, what it newly offers is on, what it does not offer is off, and what was switched off stays off. */
const carriedOver = (state: Existing, tier: Tier): readonly Feature[] =>
  featuresOf(tier).filter((feature) => state.features.includes(feature) || !featuresOf(state.tier).includes(feature));

const change = (
  command: Extract<WebsiteCommand, { type: 'ChangeWebsite' }>,
  state: Existing,
): readonly WebsiteEvent[] | Refusal => {
  const { websiteId, name, brandColor, clientId } = command;
  const tier = command.tier ?? state.tier;
  const features = inCatalogueOrder(command.features ?? carriedOver(state, tier));
  const refusal = notOnTier(features, tier);
  if (refusal !== null) return refusal;

  const events: WebsiteEvent[] = [];
  if (name !== undefined && name !== state.name) events.push({ type: 'WebsiteRenamed', data: { websiteId, name } });
  if (tier !== state.tier || features.join() !== state.features.join()) {
    events.push({ type: 'WebsitePlanChanged', data: { websiteId, tier, features } });
  }
  if (brandColor !== undefined && brandColor !== state.brandColor) {
    events.push({ type: 'WebsiteBrandColorChanged', data: { websiteId, brandColor } });
  }
  if (clientId !== undefined && clientId !== state.clientId) {
    events.push({
      type: 'WebsiteOwnerAssigned',
      data: { websiteId, clientId, ...(state.clientId !== undefined && { previousClientId: state.clientId }) },
    });
  }
  return events;
};

/** Has to be refused once the website exists: its creation and its abandonment have one order. */
const abandon = (websiteId: string, state: WebsiteState): readonly WebsiteEvent[] | Refusal => {
  if (state.stage !== 'none') return refusals.slugTaken();
  return state.abandoned === true ? [] : [{ type: 'WebsiteCreationAbandoned', data: { websiteId } }];
};

const decide = (command: WebsiteCommand, state: WebsiteState): readonly WebsiteEvent[] | Refusal => {
  if (command.type === 'CreateWebsite') return create(command, state);
  const { websiteId } = command;
  if (command.type === 'AbandonWebsite') return abandon(websiteId, state);
  if (state.stage === 'none') return refusals.websiteNotFound(websiteId);
  switch (command.type) {
    case 'ChangeWebsite':
      return state.archived ? refusals.websiteArchived(websiteId) : change(command, state);
    case 'ActivateWebsite': {
      // A run that was under way when the website was archived still ends.
      const { repository, hosting, url } = command;
      return state.stage === 'active' ? [] : [{ type: 'WebsiteActivated', data: { websiteId, repository, hosting, url } }];
    }
    case 'RemoveOwner': {
      // Of an archived website as well: the owner is no more.
      const { clientId } = command;
      return state.clientId === clientId ? [{ type: 'WebsiteOwnerRemoved', data: { websiteId, clientId } }] : [];
    }
    case 'ArchiveWebsite':
      return state.archived ? [] : [{ type: 'WebsiteArchived', data: { websiteId } }];
    case 'RestoreWebsite':
      return state.archived ? [{ type: 'WebsiteRestored', data: { websiteId } }] : [];
    default:
      return command satisfies never;
  }
};

export const websiteDecider: Decider<WebsiteState, WebsiteCommand, WebsiteEvent> = {
  name: 'website',
  initialState: { stage: 'none' },
  evolve,
  decide,
};

/** Stream `slug-<slug>`: who holds the slug. */
export type SlugState =
  { readonly stage: 'free' } | { readonly stage: 'reserved'; readonly websiteId: string; readonly at: string };

/** A reservation whose website has not appeared by then may be taken over, in milliseconds. */
export const reservationMs = 60_000;

export const slugDecider: Decider<SlugState, SlugCommand, SlugEvent> = {
  name: 'slug',
  initialState: { stage: 'free' },
  evolve: (_state, { data, metadata }) => ({ stage: 'reserved', websiteId: data.websiteId, at: metadata.at }),
  decide: ({ slug, websiteId, abandonedBy, at }, state) => {
    if (state.stage === 'reserved') {
      if (state.websiteId === websiteId) return [];
      const lapsed = Date.parse(at) - Date.parse(state.at) >= reservationMs;
      if (state.websiteId !== abandonedBy || !lapsed) return refusals.slugTaken();
    }
    return [{ type: 'SlugReserved', data: { slug, websiteId } }];
  },
};
