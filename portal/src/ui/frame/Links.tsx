import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, matchPath, useLocation, useParams } from 'react-router';
import { base } from '../../page.js';
import { paths, pathTo } from '../../paths.js';
import { startLoading } from '../../routes.js';
import type { FrameLink } from './links.js';

/** Links to pages. Their code and data are asked for as soon as one is pointed at. */
export const Links = ({ links }: { readonly links: readonly FrameLink[] }): ReactNode => {
  const { t } = useTranslation();
  const { websiteId = '' } = useParams();
  const { pathname } = useLocation();
  return links.map(({ page, words, within = [] }) => {
    const to = pathTo(page, { websiteId });
    const isHere = [page, ...within].some((name) => matchPath(paths[name], pathname) !== null);
    const prepare = (): void => startLoading(`${base}/app${to}`);
    return (
      <Link key={page} to={to} onPointerEnter={prepare} onFocus={prepare} {...(isHere && { 'aria-current': 'page' })}>
        {t(words)}
      </Link>
    );
  });
};
