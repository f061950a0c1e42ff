import { siteValuesOf, type SiteValues } from '../../events/website/siteValues.js';
import type { Feature, Kept, Tier, WebsiteEvent } from '../../events/website/website.events.js';
import { websiteStream } from '../../events/website/website.stream.js';
import { defineProjection, type Projection } from '../projection.js';
import { copyWith } from '../../platform/copyWith.js';

/** The Website as admins see it (api.md, section 5), and what the service itself needs. */
export type WebsiteDocument = {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly status: 'provisioning' | 'active';
  readonly clientId?: string;
  readonly tier: Tier;
  readonly features: readonly Feature[];
  readonly brandColor?: string;
  readonly templateId: string;
  readonly collaborators: readonly string[];
  readonly provisioningJobId: string;
  readonly repository?: { readonly provider: string; readonly id: string; readonly name: string; readonly cloneUrl: string };
  readonly hosting?: { readonly provider: string; readonly projectId: string; readonly name: string };
  readonly url?: string;
  readonly createdAt: string;
  readonly activatedAt?: string;
  readonly archivedAt?: string;
  /** When it is deleted for good. */
  readonly purgeAt?: string;
  /** What then stays at the providers. */
  readonly keep?: readonly Kept[];
  /** Slugs that it had before. */
  readonly formerSlugs?: readonly string[];
  /** What the site was built with that is served. */
  readonly built: SiteValues;
  /** The default list filters on it. */
  readonly shelf: 'archived' | 'current';
};

const change = (document: WebsiteDocument | null, changes: Partial<WebsiteDocument>): WebsiteDocument | null =>
  document === null ? null : copyWith(document, changes);

export const websiteProjection: Projection<WebsiteDocument, WebsiteEvent> = defineProjection({
  name: 'website',
  version: 7,
  // Documents of a scheduled deletion may lack what is kept.
  readsFrom: 6,
  stream: websiteStream,
  on: {
    WebsiteCreated: (_document, { data, metadata }) => {
      const { websiteId, name, slug, templateId, tier, features, brandColor, clientId, collaborators, provisioningJobId } = data;
      return {
        id: websiteId,
        name,
        slug,
        status: 'provisioning',
        ...(clientId !== undefined && { clientId }),
        tier,
        features,
        ...(brandColor !== undefined && { brandColor }),
        templateId,
        collaborators,
        provisioningJobId,
        createdAt: metadata.at,
        built: siteValuesOf(data),
        shelf: 'current',
      };
    },
    WebsiteRenamed: (document, { data: { name } }) => change(document, { name }),
    WebsitePlanChanged: (document, { data: { tier, features } }) => change(document, { tier, features }),
    WebsiteBrandColorChanged: (document, { data: { brandColor } }) => change(document, { brandColor }),
    WebsiteSlugChanged: (document, { data: { slug, previousSlug } }) => {
      const formerSlugs = (document?.formerSlugs ?? []).filter((one) => one !== slug);
      return change(document, { slug, formerSlugs: [...formerSlugs, previousSlug] });
    },
    WebsiteBrandColorRemoved: (document) => {
      if (document === null) return null;
      const { brandColor: _, ...rest } = document;
      return rest;
    },
    WebsiteDeployed: (document, { data }) => change(document, { built: siteValuesOf(data) }),
    WebsiteOwnerAssigned: (document, { data: { clientId } }) => change(document, { clientId }),
    WebsiteOwnerRemoved: (document) => {
      if (document === null) return null;
      const { clientId: _, ...rest } = document;
      return rest;
    },
    WebsiteActivated: (document, { data: { repository, hosting, url }, metadata }) =>
      change(document, { status: 'active', repository, hosting, url, activatedAt: metadata.at }),
    WebsiteArchived: (document, { metadata }) => change(document, { shelf: 'archived', archivedAt: metadata.at }),
    WebsiteDeletionScheduled: (document, { data: { purgeAt, keep } }) => change(document, { purgeAt, keep }),
    WebsiteDeleted: () => null,
    WebsiteRestored: (document) => {
      if (document === null) return null;
      const { archivedAt: _, purgeAt: __, keep: ___, ...rest } = document;
      return { ...rest, shelf: 'current' };
    },
  },
  ignores: ['WebsiteCreationAbandoned', 'WebsiteSlugForgone'],
  // Lists are made from `overviewProjection`.
  indexes: [{ field: 'clientId' }],
});
