import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, matchPath, useLocation, useParams } from 'react-router';
import { base } from '../../page.js';
import { paths, pathTo } from '../../paths.js';
import { startLoading } from '../../routes.js';
import type { FrameLink } from './links.js';

/** Where the links are a row that is wider than the window, the page that is open is not left out of sight. */
const showInRow = (link: HTMLAnchorElement | null): void => {
  const row = link?.parentElement;
  if (!link || !row || row.scrollWidth <= row.clientWidth) return;
  const [{ left, width }, { left: start }] = [link.getBoundingClientRect(), row.getBoundingClientRect()];
  row.scrollLeft += left - start - (row.clientWidth - width) / 2;
};

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
      <Link
        key={page}
        to={to}
        ref={isHere ? showInRow : null}
        onPointerEnter={prepare}
        onFocus={prepare}
        {...(isHere && { 'aria-current': 'page' })}
      >
        {t(words)}
      </Link>
    );
  });
};
