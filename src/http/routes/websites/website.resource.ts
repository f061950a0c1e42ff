import { Type, type Static } from 'typebox';
import { Feature, Tier } from '../../../events/website.events.js';
import type { WebsiteDocument } from '../../../projections/website.projection.js';
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
      Type.Object({ provider: Type.String(), id: Type.String(), name: Type.String(), cloneUrl: Type.String() }),
    ),
    hosting: Type.Optional(Type.Object({ provider: Type.String(), projectId: Type.String(), name: Type.String() })),
    url: Type.Optional(Type.String()),
    createdAt: Time,
    activatedAt: Type.Optional(Time),
    archivedAt: Type.Optional(Time),
    via: Type.Optional(Type.Enum(['owner', 'link'])),
    role: Type.Optional(Type.Enum(['viewer', 'editor'])),
  },
  { $id: 'Website' },
);

/** Clients get the marker of their way to it beside the fields. */
export const toWebsite = (document: WebsiteDocument, access?: Pick<WebsiteAccess, 'via' | 'role'>): Static<typeof Website> => {
  const { collaborators: _, provisioningJobId: __, shelf: ___, ...fields } = document;
  return {
    ...fields,
    features: [...fields.features],
    ...(access?.via !== undefined && { via: access.via }),
    ...(access?.role !== undefined && { role: access.role }),
  };
};
