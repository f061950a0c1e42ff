import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { meQuery } from '../features/me/queries.js';
import { isSignedIn } from '../session/session.js';
import { connection, onConnection, reportBack } from './connection.js';
import classes from './StatusBar.module.css';
import { askVersion, isOutdated, onOutdated } from './version.js';

/** How long the service is left alone between two questions whether it answers again, in ms. */
const pauseMs = 4_000;

/** Says quietly that the service cannot be reached, or that there is a newer portal. */
export const StatusBar = (): ReactNode => {
  const { t } = useTranslation();
  const client = useQueryClient();
  const state = useSyncExternalStore(onConnection, connection);
  const isOld = useSyncExternalStore(onOutdated, isOutdated);

  const isFine = state === 'fine';
  useEffect(() => {
    if (isFine) return undefined;
    // Where nobody is signed in, there is nothing to ask.
    if (!isSignedIn()) {
      window.addEventListener('online', reportBack);
      return () => window.removeEventListener('online', reportBack);
    }
    // Nothing tells that a service is there again: it is asked, by whoever still looks at the page.
    const ask = (): void => {
      if (document.visibilityState === 'visible')
        void client.query({ ...meQuery, staleTime: 0 }).then(reportBack, () => undefined);
    };
    const timer = setInterval(ask, pauseMs);
    window.addEventListener('online', ask);
    document.addEventListener('visibilitychange', ask);
    return () => {
      clearInterval(timer);
      window.removeEventListener('online', ask);
      document.removeEventListener('visibilitychange', ask);
      // It answers again: what could not be asked is asked, and what is shown may have changed.
      void client.invalidateQueries();
      void askVersion();
    };
  }, [isFine, client]);

  const words = isFine ? (isOld ? t('bar.newVersion') : null) : t(`bar.${state}`);
  return (
    <div role="status" className={classes['place']}>
      {words !== null && (
        <div className={classes['bar']}>
          <span>{words}</span>
          {state === 'fine' && (
            <button type="button" onClick={() => location.reload()}>
              {t('bar.reload')}
            </button>
          )}
        </div>
      )}
    </div>
  );
};
