import type { AccountRole, Website } from '@doorstep/sdk';
import type { ParseKeys } from 'i18next';
import type { PageName } from '../../paths.js';

export interface FrameLink {
  readonly page: PageName;
  readonly words: ParseKeys;
  /** Other pages that belong to it. */
  readonly within?: readonly PageName[];
}

/** What somebody is to a website. */
type Seat = 'admin' | 'owner' | 'editor' | 'viewer';

type Feature = Website['features'][number];

const everybody: readonly Seat[] = ['admin', 'owner', 'editor', 'viewer'];

interface WebsiteLink extends FrameLink {
  readonly seats: readonly Seat[];
  readonly feature?: Feature;
}

const link = (page: PageName, within?: readonly PageName[]): FrameLink => ({
  page,
  words: `titles.${page}`,
  ...(within !== undefined && { within }),
});

const of = (page: PageName, seats: readonly Seat[], feature?: Feature, within?: readonly PageName[]): WebsiteLink => ({
  ...link(page, within),
  seats,
  ...(feature !== undefined && { feature }),
});

/** What leads through the agency. */
export const agencyLinks = (hasOutbox: boolean): readonly FrameLink[] => [
  link('home'),
  link('websites', ['newWebsite']),
  link('clients', ['client']),
  link('audit'),
  ...(hasOutbox ? [link('outbox')] : []),
  link('apiKeys'),
  link('connect'),
];

const ofWebsite: readonly WebsiteLink[] = [
  of('status', everybody),
  of('delivery', ['admin']),
  of('history', ['admin']),
  of('provisioning', everybody),
  of('people', ['admin', 'owner']),
  of('transfer', ['admin']),
  of('documents', everybody, 'documents'),
  of('content', everybody, 'content', ['contentDocument']),
  of('media', everybody, 'content'),
  of('marketing', everybody, 'marketing', ['marketingDocument']),
  of('analytics', everybody, 'analytics'),
  of('seo', everybody, 'seo'),
  of('deployments', everybody),
  of('billing', ['admin', 'owner']),
  of('settings', ['admin']),
  of('settings', ['owner', 'editor'], 'blueprint'),
];

/** What somebody with an account of this role is to a website. */
const seatOf = (role: AccountRole, { via, role: linked }: Website): Seat => {
  if (role === 'admin') return 'admin';
  return via === 'owner' ? 'owner' : (linked ?? 'viewer');
};

/** What leads through a website: what it has, and what the reader may open. Before it is known, its first page. */
export const websiteLinks = (role: AccountRole, website: Website | undefined): readonly FrameLink[] =>
  website === undefined
    ? [link('status')]
    : ofWebsite.filter(
        ({ page, seats, feature }) =>
          seats.includes(seatOf(role, website)) &&
          (feature === undefined || website.features.includes(feature)) &&
          // Once the website stands, how it was built is a matter of the agency.
          (page !== 'provisioning' || role === 'admin' || website.status === 'provisioning'),
      );
