import { Type, type Static, type TObject } from 'typebox';

/** What a website's own site shows of the website: the values that its build is given. */
export const siteValues = {
  name: Type.String(),
  slug: Type.String(),
  brandColor: Type.Optional(Type.String()),
};

export type SiteValues = Static<TObject<typeof siteValues>>;

export const siteValuesOf = ({ name, slug, brandColor }: SiteValues): SiteValues => ({
  name,
  slug,
  ...(brandColor !== undefined && { brandColor }),
});

export const areSameValues = (one: SiteValues, other: SiteValues): boolean =>
  one.name === other.name && one.slug === other.slug && one.brandColor === other.brandColor;
