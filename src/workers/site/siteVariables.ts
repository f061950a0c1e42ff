import type { SiteValues } from '../../events/website/siteValues.js';

/** The values of a website as variables of its site's build. */
export const siteVariables = ({ name, slug, brandColor }: SiteValues): Readonly<Record<string, string>> => ({
  SITE_NAME: name,
  SITE_SLUG: slug,
  ...(brandColor !== undefined && { SITE_COLOR: brandColor }),
});
