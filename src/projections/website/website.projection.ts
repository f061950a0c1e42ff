import type { Feature, Tier, WebsiteEvent } from '../../events/website/website.events.js';
import type { Projection } from '../projection.js';
import { websiteStream } from '../../events/website/website.stream.js';

/** The Website as admins see it (api.md, section 5), and what the service itself needs to know of it. */
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
  /** `archived` or `current`: what the default list filters on. */
  readonly shelf: 'archived' | 'current';
};

const change = (document: WebsiteDocument | null, changes: Partial<WebsiteDocument>): WebsiteDocument | null =>
  document === null ? null : { ...document, ...changes };

export const websiteProjection: Projection<WebsiteDocument, WebsiteEvent> = {
  name: 'website',
  version: 2,
  handles: [
    'WebsiteCreated',
    'WebsiteRenamed',
    'WebsitePlanChanged',
    'WebsiteBrandColorChanged',
    'WebsiteOwnerAssigned',
    'WebsiteOwnerRemoved',
    'WebsiteActivated',
    'WebsiteArchived',
    'WebsiteRestored',
  ],
  ignores: ['WebsiteCreationAbandoned'],
  documentId: ({ data }) => data.websiteId,
  stream: (websiteId) => websiteStream.name({ websiteId }),
  indexes: [{ field: 'shelf' }, { field: 'status' }, { field: 'clientId' }],
  evolve: (document, event) => {
    switch (event.type) {
      case 'WebsiteCreated': {
        const { websiteId, name, slug, templateId, tier, features, brandColor, clientId, collaborators, provisioningJobId } =
          event.data;
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
          createdAt: event.metadata.at,
          shelf: 'current',
        };
      }
      case 'WebsiteRenamed':
        return change(document, { name: event.data.name });
      case 'WebsitePlanChanged':
        return change(document, { tier: event.data.tier, features: event.data.features });
      case 'WebsiteBrandColorChanged':
        return change(document, { brandColor: event.data.brandColor });
      case 'WebsiteOwnerAssigned':
        return change(document, { clientId: event.data.clientId });
      case 'WebsiteOwnerRemoved': {
        if (document === null) return null;
        const { clientId: _, ...others } = document;
        return others;
      }
      case 'WebsiteActivated': {
        const { repository, hosting, url } = event.data;
        return change(document, { status: 'active', repository, hosting, url, activatedAt: event.metadata.at });
      }
      case 'WebsiteArchived':
        return change(document, { shelf: 'archived', archivedAt: event.metadata.at });
      case 'WebsiteRestored': {
        if (document === null) return null;
        const { archivedAt: _, ...rest } = document;
        return { ...rest, shelf: 'current' };
      }
      default:
        return document;
    }
  },
};
