import { Type, type Static } from 'typebox';
import { areSameValues } from '../../../events/website/siteValues.js';
import { Feature, keepable, Tier } from '../../../events/website/website.events.js';
import type { SiteAddress } from '../../../integrations/hosting/port.js';
import type { Payments } from '../../../integrations/payments/port.js';
import type { Reader } from '../../../projections/reader.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import { billingFold, isSubscribed } from '../../../events/billing/billing.state.js';
import type { ListedWebsite } from '../../../projections/website/website.queries.js';
import type { WebsiteStanding } from '../../auth/caller.js';
import { cloneUrlOf } from '../../cloneUrl.js';
import { DeliverySummary, ProvisioningSummary, toDeliverySummary } from './summaries.resource.js';
import { copyWith } from '../../../platform/copyWith.js';

const Time = Type.String({ format: 'date-time' });

/** Website (api.md, section 5). */
export const Website = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    slug: Type.String(),
    status: Type.Enum(['provisioning', 'active']),
    clientId: Type.Optional(Type.String({ description: 'The owning client.' })),
    billing: Type.Optional(
      Type.Enum(['none', 'subscribed'], {
        description:
          'Whether the owner has a subscription for it. An owner set by hand has none: only the claim of a transfer makes one. ' +
          'For admins and the owner; not in lists.',
      }),
    ),
    tier: Tier,
    features: Type.Array(Feature),
    brandColor: Type.Optional(Type.String()),
    templateId: Type.String(),
    repository: Type.Optional(
      Type.Object({
        provider: Type.String(),
        id: Type.String({ description: 'As the source host names it.', examples: ['corner-bakery'] }),
        name: Type.String(),
        cloneUrl: Type.Optional(
          Type.String({
            description:
              'What `git clone` takes. With the embedded source host: any name, and a token as the password; a push of an editor deploys. Elsewhere: for admins.',
          }),
        ),
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
    purgeAt: Type.Optional(
      Type.String({ format: 'date-time', description: 'When it is deleted for good; restoring it cancels that.' }),
    ),
    keep: Type.Optional(Type.Array(Type.Enum([...keepable]), { description: 'What then stays at the providers.' })),
    redeployNeeded: Type.Optional(
      Type.Literal(true, {
        description: 'Its site still shows an older name, colour or address: the next deployment shows these.',
      }),
    ),
    deliverySummary: Type.Optional(DeliverySummary),
    provisioningSummary: Type.Optional(ProvisioningSummary),
    via: Type.Optional(Type.Enum(['owner', 'link'])),
    role: Type.Optional(Type.Enum(['viewer', 'editor'])),
  },
  { $id: 'Website', description: 'A website of a client.' },
);

export interface WebsiteAddresses {
  readonly siteAddress: SiteAddress;
  /** Public base address of the service, without a trailing slash. */
  readonly baseUrl: () => string;
}

/**
 * The website as the caller sees it: a client gets the marker of the way to it beside the fields,
 * and not where a repository elsewhere is cloned from, which is the agency's.
 */
export const toWebsite = (
  document: WebsiteDocument,
  { siteAddress, baseUrl }: WebsiteAddresses,
  standing: WebsiteStanding,
): Static<typeof Website> => {
  const { clientId, brandColor, repository, hosting, activatedAt, archivedAt, purgeAt, keep } = document;
  const url = siteAddress(document);
  const always = {
    id: document.id,
    name: document.name,
    slug: document.slug,
    status: document.status,
    tier: document.tier,
    features: [...document.features],
    templateId: document.templateId,
    createdAt: document.createdAt,
  };
  return copyWith(always, {
    ...(clientId !== undefined && { clientId }),
    ...(brandColor !== undefined && { brandColor }),
    ...(repository !== undefined && { repository: toRepository(repository, document.slug, baseUrl, standing) }),
    ...(hosting !== undefined && { hosting }),
    ...(url !== undefined && { url }),
    ...(activatedAt !== undefined && { activatedAt }),
    ...(archivedAt !== undefined && { archivedAt }),
    ...(purgeAt !== undefined && { purgeAt }),
    ...(keep !== undefined && { keep: [...keep] }),
    ...(document.status === 'active' && !areSameValues(document, document.built) && { redeployNeeded: true as const }),
    ...wayOf(standing),
  });
};

/** The marker of a client's way to the website; an owner always counts as an editor. */
const wayOf = (standing: WebsiteStanding): Pick<Static<typeof Website>, 'via' | 'role'> => {
  switch (standing) {
    case 'admin':
    case 'stranger':
      return {};
    case 'owner':
      return { via: 'owner', role: 'editor' };
    case 'editor':
    case 'viewer':
      return { via: 'link', role: standing };
    default:
      return standing satisfies never;
  }
};

/** As lists show it; how its provisioning stands is for admins. */
export const toListedWebsite = (
  { website, delivery, provisioning }: ListedWebsite,
  addresses: WebsiteAddresses,
  standing: WebsiteStanding,
): Static<typeof Website> =>
  copyWith(toWebsite(website, addresses, standing), {
    ...(delivery !== undefined && { deliverySummary: toDeliverySummary(delivery) }),
    ...(standing === 'admin' && { provisioningSummary: provisioning }),
  });

/** The website with its `billing`, which is for admins and the owner. */
export const withBilling = async (
  { reader, payments }: { readonly reader: Reader; readonly payments: Payments },
  website: Static<typeof Website>,
  standing: WebsiteStanding,
): Promise<Static<typeof Website>> => {
  if (standing !== 'admin' && standing !== 'owner') return website;
  const { id: websiteId, clientId } = website;
  const { state } = await reader.state(billingFold, { websiteId });
  return copyWith(website, {
    billing: isSubscribed(state, payments.provider, clientId) ? ('subscribed' as const) : ('none' as const),
  });
};

const toRepository = (
  stored: NonNullable<WebsiteDocument['repository']>,
  slug: string,
  baseUrl: () => string,
  standing: WebsiteStanding,
): NonNullable<Static<typeof Website>['repository']> => {
  const { provider, id, name } = stored;
  const repository = { provider, id, name };
  const isShown = standing === 'admin' || (provider === 'embedded' && standing !== 'stranger');
  if (!isShown) return repository;
  return { ...repository, cloneUrl: cloneUrlOf(stored, slug, baseUrl) };
};
