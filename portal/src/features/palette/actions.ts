import type { AccountRole, Website } from '@doorstep/sdk';
import type { TFunction } from 'i18next';
import { hasOutbox } from '../../page.js';
import { pathTo, type PageName } from '../../paths.js';
import { agencyLinks, websiteLinks, type FrameLink } from '../../ui/frame/links.js';
import type { Entry } from './recent.js';

/** What everybody has. */
const ofClients: readonly FrameLink[] = [
  { page: 'home', words: 'titles.home' },
  { page: 'apiKeys', words: 'titles.apiKeys' },
  { page: 'connect', words: 'titles.connect' },
];

const newWebsite: FrameLink = { page: 'newWebsite', words: 'home.create' };

/** Of pages on which one does what their names do not say. */
const alsoFound = ['newWebsite', 'clients', 'delivery', 'people', 'transfer', 'documents', 'media'] as const;

const alsoOf = (page: PageName, t: TFunction): Pick<Entry, 'also'> => {
  const named = alsoFound.find((one) => one === page);
  return named === undefined ? {} : { also: t(`palette.also.${named}`) };
};

/** The pages that the reader may open: those of the website that is open first. */
export const pageEntries = (role: AccountRole, website: Website | undefined, t: TFunction): readonly Entry[] => {
  const ofWebsite = website === undefined ? [] : websiteLinks(role, website);
  const ofAgency = role === 'admin' ? [newWebsite, ...agencyLinks(hasOutbox)] : ofClients;
  return [
    ...ofWebsite.map(({ page, words }): Entry => ({
      to: pathTo(page, { websiteId: website?.id ?? '' }),
      name: `${website?.name ?? ''} · ${t(words)}`,
      kind: 'page',
      ...alsoOf(page, t),
    })),
    ...ofAgency.map(({ page, words }): Entry => ({ to: pathTo(page), name: t(words), kind: 'page', ...alsoOf(page, t) })),
  ];
};
