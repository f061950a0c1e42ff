import { Type, type Static } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { Time } from '../fields.js';
import { siteValues } from './siteValues.js';
import { websiteUpcasters } from './website.upcasters.js';

/** From the lowest tier to the highest. */
export const tiers = ['starter', 'growth', 'scale'] as const;
export const features = ['content', 'documents', 'analytics', 'marketing', 'seo', 'scheduling', 'commerce', 'blueprint'] as const;

export const Tier = Type.Enum([...tiers]);
export type Tier = Static<typeof Tier>;
export const Feature = Type.Enum([...features]);
export type Feature = Static<typeof Feature>;

/** Repository, project and address of a website: the service's own view, nothing mirrored. */
const Repository = Type.Object({
  provider: Type.String(),
  id: Type.String(),
  name: Type.String(),
  cloneUrl: Type.String(),
});
const HostingProject = Type.Object({ provider: Type.String(), projectId: Type.String(), name: Type.String() });

/** What a deletion may leave at the providers. */
export const keepable = ['repository', 'hosting'] as const;
const Kept = Type.Enum([...keepable]);
export type Kept = Static<typeof Kept>;

/** Stream `website-<id>`. */
export const websiteEvents = {
  WebsiteCreated: event(
    Type.Object({
      websiteId: Type.String(),
      name: Type.String(),
      slug: Type.String(),
      templateId: Type.String(),
      tier: Tier,
      features: Type.Array(Feature),
      brandColor: Type.Optional(Type.String()),
      clientId: Type.Optional(Type.String()),
      /** Usernames on the source host. */
      collaborators: Type.Array(Type.String()),
      provisioningJobId: Type.String(),
    }),
    websiteUpcasters.WebsiteCreated,
  ),
  WebsiteRenamed: event(Type.Object({ websiteId: Type.String(), name: Type.String() })),
  WebsitePlanChanged: event(Type.Object({ websiteId: Type.String(), tier: Tier, features: Type.Array(Feature) })),
  WebsiteBrandColorChanged: event(Type.Object({ websiteId: Type.String(), brandColor: Type.String() })),
  /** The address of its site; `slug` was reserved before. */
  WebsiteSlugChanged: event(Type.Object({ websiteId: Type.String(), slug: Type.String(), previousSlug: Type.String() })),
  /** It reserved the slug, never took it, and another website may have it: reservations made before are void. */
  WebsiteSlugForgone: event(Type.Object({ websiteId: Type.String(), slug: Type.String() })),
  WebsiteBrandColorRemoved: event(Type.Object({ websiteId: Type.String() })),
  /** The deployment that is served now was built with these values. */
  WebsiteDeployed: event(Type.Object({ websiteId: Type.String(), deploymentId: Type.String(), ...siteValues })),
  WebsiteOwnerAssigned: event(
    Type.Object({ websiteId: Type.String(), clientId: Type.String(), previousClientId: Type.Optional(Type.String()) }),
  ),
  /** Nobody owns the website from now on: its owner was erased, or an admin took it from them. */
  WebsiteOwnerRemoved: event(Type.Object({ websiteId: Type.String(), clientId: Type.String() })),
  WebsiteActivated: event(
    Type.Object({ websiteId: Type.String(), repository: Repository, hosting: HostingProject, url: Type.String() }),
  ),
  /** Its slug was taken over: this id will never be a website, however late its creation comes. */
  WebsiteCreationAbandoned: event(Type.Object({ websiteId: Type.String() })),
  WebsiteArchived: event(Type.Object({ websiteId: Type.String() })),
  /** At `purgeAt` it is deleted, unless it is restored before; what `keep` names stays at the providers. */
  WebsiteDeletionScheduled: event(Type.Object({ websiteId: Type.String(), purgeAt: Time, keep: Type.Array(Kept) })),
  /**
   * It is gone for everybody. Repository and hosting project were made under `name`, or under one of the
   * `slugs` after a retry, with the marker `provisioningJobId`; `slugs` are those that it has and had.
   */
  WebsiteDeleted: event(
    Type.Object({
      websiteId: Type.String(),
      keep: Type.Array(Kept),
      name: Type.String(),
      provisioningJobId: Type.String(),
      slugs: Type.Array(Type.String()),
    }),
  ),
  WebsiteRestored: event(Type.Object({ websiteId: Type.String() })),
};

export type WebsiteEvent = EventOf<typeof websiteEvents>;

/** Stream `slug-<slug>`. */
export const slugEvents = {
  SlugReserved: event(Type.Object({ slug: Type.String(), websiteId: Type.String() })),
  /**
   * The website has another slug by now, to which this one leads. Until `reservedUntil` no other website
   * may reserve it; absent: it is free.
   */
  SlugReleased: event(
    Type.Object({
      slug: Type.String(),
      websiteId: Type.String(),
      reservedUntil: Type.Optional(Time),
    }),
  ),
};

export type SlugEvent = EventOf<typeof slugEvents>;
