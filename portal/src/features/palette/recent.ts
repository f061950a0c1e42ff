import { pathTo } from '../../paths.js';

const keyOf = (subject: string): string => `doorstep.recent.${subject}`;
const maxRecent = 6;

/** Something that the palette leads to. */
export interface Entry {
  /** Where it leads, below `/app`. */
  readonly to: string;
  readonly name: string;
  /** What it is, said beside its name. */
  readonly kind: 'website' | 'person' | 'page';
  /** By which other words it is found: what one wants to do there. */
  readonly also?: string;
}

/** What somebody opened from the palette in this tab, the newest first. */
export const recentEntries = (subject: string): readonly Entry[] =>
  JSON.parse(sessionStorage.getItem(keyOf(subject)) ?? '[]') as readonly Entry[];

export const noteRecent = (subject: string, entry: Entry): void => {
  const others = recentEntries(subject).filter(({ to }) => to !== entry.to);
  sessionStorage.setItem(keyOf(subject), JSON.stringify([entry, ...others].slice(0, maxRecent)));
};

export const websiteEntry = ({ id, name }: { readonly id: string; readonly name: string }): Entry => ({
  to: pathTo('status', { websiteId: id }),
  name,
  kind: 'website',
});
