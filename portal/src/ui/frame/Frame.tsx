import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation, useParams } from 'react-router';
import { isSessionOver } from '../../api/sessionOver.js';
import { meQuery, useMe } from '../../features/me/queries.js';
import { PaletteHost } from '../../features/palette/PaletteHost.js';
import { websiteQuery } from '../../features/website/queries.js';
import { useLive } from '../../live/useLive.js';
import type { Route } from '../../routes.js';
import { SessionOverPage } from '../../session/SessionOverPage.js';
import { stopViewing, viewedAs } from '../../session/viewAs.js';
import { Boundary } from '../Boundary.js';
import { PageTitle } from '../PageTitle.js';
import { FaultCard, faultOf, isOutOfReach, StateCard, Waiting } from '../states.js';
import { AccountMenu } from './AccountMenu.js';
import { useArrival } from './arrival.js';
import { Brand } from './Brand.js';
import classes from './Frame.module.css';
import { useKeptFocus } from './keptFocus.js';
import { Links } from './Links.js';
import { websiteLinks } from './links.js';
import { ViewingBanner } from './ViewingBanner.js';

const AdminFrame = lazy(() => import('./AdminFrame.js'));

interface FrameProps {
  readonly page: Route;
  readonly children: ReactNode;
}

/** Only admins may look as somebody else: whoever else was given such an address is shown their own answers. */
const NotAsThem = (): ReactNode => {
  useEffect(stopViewing, []);
  return <Waiting />;
};

const FrameOfPerson = ({ page: { page, title, who, place }, children }: FrameProps): ReactNode => {
  const { t } = useTranslation();
  const { role, websites } = useMe();
  const { websiteId } = useParams();
  const { pathname } = useLocation();
  const isWebsites = place === 'website' && websiteId !== undefined;
  const { data, error } = useQuery({ ...websiteQuery(websiteId ?? ''), enabled: isWebsites });
  const website = isOutOfReach(error) ? undefined : data;
  const main = useRef<HTMLElement>(null);
  useArrival(main);
  useKeptFocus(main);
  useLive(role, isWebsites ? websiteId : undefined);

  const content = (isWide: boolean): ReactNode => (
    <main ref={main} id="content" tabIndex={-1} className={classes[role === 'admin' ? 'main' : isWide ? 'wide' : 'column']}>
      <PageTitle title={title} {...(isWebsites && website !== undefined && { of: website.name })} />
      <PaletteHost />
      <Boundary key={pathname}>
        {who === 'admins' && role !== 'admin' ? (
          <StateCard title={t('faults.refused.title')}>{t('faults.adminsOnly')}</StateCard>
        ) : (
          children
        )}
      </Boundary>
    </main>
  );
  const skip = (
    <a
      href="#content"
      className={classes['skip']}
      onClick={(event) => {
        event.preventDefault();
        main.current?.focus();
      }}
    >
      {t('frame.skip')}
    </a>
  );
  if (role === 'admin') {
    return (
      <>
        {skip}
        <ViewingBanner />
        <Suspense fallback={<Waiting />}>
          <AdminFrame website={isWebsites ? (website ?? null) : undefined}>{content(true)}</AdminFrame>
        </Suspense>
      </>
    );
  }
  return (
    <>
      {skip}
      <ViewingBanner />
      <header className={classes['top']}>
        {/* Whoever has one website knows it, and the Status page begins with its name. */}
        <Brand website={websites.length > 1 && page !== 'status' ? website?.name : undefined} />
        <AccountMenu place="top" />
      </header>
      {isWebsites && (
        <nav className={classes['row']} aria-label={t('frame.navigation')}>
          <Links links={websiteLinks(role, website)} />
        </nav>
      )}
      {content(isWebsites && page !== 'status')}
    </>
  );
};

/** What stands around a page: for clients one column, for admins a side bar. */
export const Frame = (props: FrameProps): ReactNode => {
  const me = useQuery(meQuery);
  if (me.data !== undefined) return <FrameOfPerson {...props} />;
  if (!me.isError) return <Waiting />;
  if (isSessionOver(me.error)) return <SessionOverPage />;
  if (viewedAs !== null && faultOf(me.error) === 'refused') return <NotAsThem />;
  return (
    <>
      <ViewingBanner />
      <main className={classes['column']}>
        <FaultCard error={me.error} again={() => me.refetch()} />
      </main>
    </>
  );
};
