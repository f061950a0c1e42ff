import { pathTo } from '../../paths.js';

const key = 'doorstep.recent';
const maxRecent = 6;

/** Something that the palette leads to. */
export interface Entry {
  /** Where it leads, below `/app`. */
  readonly to: string;
  readonly name: string;
  /** What it is, said beside its name. */
  readonly kind: 'website' | 'person' | 'page';
}

/** What was opened from the palette in this tab, the newest first. */
export const recentEntries = (): readonly Entry[] => JSON.parse(sessionStorage.getItem(key) ?? '[]') as readonly Entry[];

export const noteRecent = (entry: Entry): void => {
  const others = recentEntries().filter(({ to }) => to !== entry.to);
  sessionStorage.setItem(key, JSON.stringify([entry, ...others].slice(0, maxRecent)));
};

export const websiteEntry = ({ id, name }: { readonly id: string; readonly name: string }): Entry => ({
  to: pathTo('status', { websiteId: id }),
  name,
  kind: 'website',
});
