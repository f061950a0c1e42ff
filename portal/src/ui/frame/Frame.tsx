import { Suspense, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { NavLink, useParams } from 'react-router';
import { useMe } from '../../features/me/queries.js';
import { brandName } from '../../page.js';
import { pathTo } from '../../paths.js';
import type { Place } from '../../routes.js';
import { Logo } from '../Logo.js';
import { StateCard, Waiting } from '../states.js';
import classes from './Frame.module.css';
import { agencyLinks, websiteLinks, type FrameLink } from './links.js';

interface FrameProps {
  readonly place: Place;
  readonly adminsOnly: boolean;
  readonly children: ReactNode;
}

const Links = ({ links }: { readonly links: readonly FrameLink[] }): ReactNode => {
  const { t } = useTranslation();
  const { websiteId = '' } = useParams();
  return links.map(({ page, words }) => (
    <NavLink key={page} to={pathTo(page, { websiteId })} end>
      {t(words)}
    </NavLink>
  ));
};

const FrameOfPerson = ({ place, adminsOnly, children }: FrameProps): ReactNode => {
  const { t } = useTranslation();
  const me = useMe();
  const links = place === 'website' ? websiteLinks(me.role) : agencyLinks(me.role);
  const content =
    adminsOnly && me.role !== 'admin' ? (
      <StateCard title={t('faults.refused.title')}>{t('faults.adminsOnly')}</StateCard>
    ) : (
      children
    );
  if (me.role === 'admin') {
    return (
      <div className={classes['shell']}>
        <aside className={classes['side']}>
          <p className={classes['brand']}>
            <Logo />
            <b>{brandName}</b>
          </p>
          <nav aria-label={t('frame.navigation')}>
            <Links links={links} />
          </nav>
        </aside>
        <main className={classes['main']}>{content}</main>
      </div>
    );
  }
  return (
    <>
      <header className={classes['top']}>
        <Logo />
        <b>{brandName}</b>
        <span className={classes['who']} title={me.email ?? me.subject}>
          {(me.client?.name ?? me.email ?? '?').slice(0, 1).toLocaleUpperCase()}
        </span>
      </header>
      <main className={classes['column']}>{content}</main>
    </>
  );
};

/** What stands around a page: for clients one column, for admins a side bar. */
export const Frame = (props: FrameProps): ReactNode => (
  <Suspense fallback={<Waiting />}>
    <FrameOfPerson {...props} />
  </Suspense>
);
