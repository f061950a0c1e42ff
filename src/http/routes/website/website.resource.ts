import { Type, type Static } from 'typebox';
import { Feature, Tier } from '../../../events/website/website.events.js';
import type { SiteAddress } from '../../../integrations/hosting/port.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import type { WebsiteAccess } from '../../auth/caller.js';

const Time = Type.String({ format: 'date-time' });

/** Website (api.md, section 5). */
export const Website = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    slug: Type.String(),
    status: Type.Enum(['provisioning', 'active']),
    clientId: Type.Optional(Type.String({ description: 'The owning client.' })),
    tier: Tier,
    features: Type.Array(Feature),
    brandColor: Type.Optional(Type.String()),
    templateId: Type.String(),
    repository: Type.Optional(
      Type.Object({
        provider: Type.String(),
        id: Type.String(),
        name: Type.String(),
        cloneUrl: Type.Optional(Type.String({ description: 'For admins.' })),
      }),
    ),
    hosting: Type.Optional(Type.Object({ provider: Type.String(), projectId: Type.String(), name: Type.String() })),
    url: Type.Optional(
      Type.String({
        description:
          'Where visitors find it, as of now; once it is active. It is public, so `showPreviewUrl` does not hide it from clients.',
      }),
    ),
    createdAt: Time,
    activatedAt: Type.Optional(Time),
    archivedAt: Type.Optional(Time),
    via: Type.Optional(Type.Enum(['owner', 'link'])),
    role: Type.Optional(Type.Enum(['viewer', 'editor'])),
  },
  { $id: 'Website' },
);

/**
 * The website as the caller sees it: a client gets the marker of the way to it beside the fields,
 * and not where the repository is cloned from, which is the agency's (and, on the embedded source
 * host, a path of its machine).
 */
export const toWebsite = (
  document: WebsiteDocument,
  siteAddress: SiteAddress,
  access?: Pick<WebsiteAccess, 'via' | 'role'>,
): Static<typeof Website> => {
  const { collaborators: _, provisioningJobId: __, shelf: ___, url: ____, repository, ...fields } = document;
  const url = siteAddress(document);
  return {
    ...fields,
    features: [...fields.features],
    ...(url !== undefined && { url }),
    ...(repository !== undefined && { repository: access?.via === undefined ? repository : withoutCloneUrl(repository) }),
    ...(access?.via !== undefined && { via: access.via }),
    ...(access?.role !== undefined && { role: access.role }),
  };
};

const withoutCloneUrl = ({ provider, id, name }: NonNullable<WebsiteDocument['repository']>) => ({ provider, id, name });
