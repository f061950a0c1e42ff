import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { meQuery } from '../features/me/queries.js';
import { isSignedIn } from '../session/session.js';
import { connection, onConnection, reportBack } from './connection.js';
import { pauseAfterBreak } from './pauseAfterBreak.js';
import classes from './StatusBar.module.css';
import { askVersion, isOutdated, onOutdated } from './version.js';

/** Says quietly that the service cannot be reached, or that there is a newer portal. */
export const StatusBar = (): ReactNode => {
  const { t } = useTranslation();
  const client = useQueryClient();
  const state = useSyncExternalStore(onConnection, connection);
  const isOld = useSyncExternalStore(onOutdated, isOutdated);

  const lastPause = useRef<{ readonly ms: number; readonly endedAt: number }>(undefined);

  const isFine = state === 'fine';
  useEffect(() => {
    if (isFine) return undefined;
    // Where nobody is signed in, there is nothing to ask.
    if (!isSignedIn()) {
      const isBack = (): void => reportBack();
      window.addEventListener('online', isBack);
      return () => window.removeEventListener('online', isBack);
    }
    let pauseMs = pauseAfterBreak(lastPause.current?.ms, Date.now() - (lastPause.current?.endedAt ?? 0));
    // Nothing tells that a service is there again: it is asked, by whoever still looks at the page.
    const ask = (): void => {
      if (document.visibilityState !== 'visible') return;
      void client.query({ ...meQuery, staleTime: 0 }).then(
        () => reportBack(),
        (error: unknown) => {
          reportBack(error);
          if (connection() !== 'fine') forgetBreaks();
        },
      );
    };
    let timer = setInterval(ask, pauseMs);
    // Nothing at all is answered: then the breaks before do not make this one longer.
    const forgetBreaks = (): void => {
      clearInterval(timer);
      pauseMs = pauseAfterBreak(undefined, 0);
      timer = setInterval(ask, pauseMs);
    };
    const askOnline = (): void => {
      forgetBreaks();
      ask();
    };
    window.addEventListener('online', askOnline);
    document.addEventListener('visibilitychange', ask);
    return () => {
      clearInterval(timer);
      window.removeEventListener('online', askOnline);
      document.removeEventListener('visibilitychange', ask);
      lastPause.current = { ms: pauseMs, endedAt: Date.now() };
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
