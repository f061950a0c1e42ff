import type { Website } from '@doorstep/sdk';
import { useEffect, useRef, useSyncExternalStore, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'react-router';
import { openPalette } from '../../features/palette/palette.js';
import { hasOutbox } from '../../page.js';
import { pathTo } from '../../paths.js';
import { AccountMenu } from './AccountMenu.js';
import { Brand } from './Brand.js';
import classes from './Frame.module.css';
import { Links } from './Links.js';
import { agencyLinks, websiteLinks } from './links.js';

const wide = window.matchMedia('(min-width: 861px)');

const useIsWide = (): boolean =>
  useSyncExternalStore(
    (changed) => {
      wide.addEventListener('change', changed);
      return () => wide.removeEventListener('change', changed);
    },
    () => wide.matches,
  );

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

interface AdminFrameProps {
  /** Of which website the page is; null: not known yet; absent: of none. */
  readonly website: Website | null | undefined;
  readonly children: ReactNode;
}

const Find = (): ReactNode => {
  const { t } = useTranslation();
  return (
    <button type="button" className={classes['find']} onClick={openPalette} aria-keyshortcuts="Meta+K Control+K">
      {t('frame.find')}
      <kbd>{isApple ? '⌘K' : t('frame.findKeys')}</kbd>
    </button>
  );
};

const Pages = ({ website }: Pick<AdminFrameProps, 'website'>): ReactNode => {
  const { t } = useTranslation();
  return (
    <nav aria-label={t('frame.navigation')}>
      {website === undefined ? (
        <Links links={agencyLinks(hasOutbox)} />
      ) : (
        <>
          <Link to={pathTo('websites')}>‹ {t('titles.websites')}</Link>
          {website !== null && <p className={classes['of']}>{website.name}</p>}
          <Links links={websiteLinks('admin', website ?? undefined)} />
        </>
      )}
    </nav>
  );
};

/** On a phone, the side bar lies over the page. */
const PhoneMenu = ({ website }: Pick<AdminFrameProps, 'website'>): ReactNode => {
  const { t } = useTranslation();
  const menu = useRef<HTMLDialogElement>(null);
  const { key } = useLocation();
  useEffect(() => menu.current?.close(), [key]);
  return (
    <>
      <header className={classes['top']}>
        <button type="button" className={classes['burger']} aria-haspopup="dialog" onClick={() => menu.current?.showModal()}>
          <i aria-hidden="true" /> {t('frame.menu')}
        </button>
        <Brand website={website?.name} />
        <button type="button" className={classes['burger']} onClick={openPalette}>
          {t('frame.findShort')}
        </button>
      </header>
      <dialog
        ref={menu}
        className={classes['drawer']}
        aria-label={t('frame.menu')}
        onClick={({ target, currentTarget }) => {
          // The backdrop.
          if (target === currentTarget) currentTarget.close();
        }}
      >
        <div className={classes['side']}>
          <button type="button" className={classes['burger']} onClick={() => menu.current?.close()}>
            {t('common.close')}
          </button>
          <Pages website={website} />
          <AccountMenu place="side" />
        </div>
      </dialog>
    </>
  );
};

/** The frame of the agency's people: a side bar; on a phone a bar with a button for it. */
const AdminFrame = ({ website, children }: AdminFrameProps): ReactNode => {
  const isWide = useIsWide();
  return (
    <div className={classes['shell']}>
      {isWide ? (
        <aside className={classes['side']}>
          <Brand />
          <Find />
          <Pages website={website} />
          <AccountMenu place="side" />
        </aside>
      ) : (
        <PhoneMenu website={website} />
      )}
      {children}
    </div>
  );
};

export default AdminFrame;
