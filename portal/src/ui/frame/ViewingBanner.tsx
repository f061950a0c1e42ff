import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { stopViewing, viewedAs } from '../../session/viewAs.js';
import classes from './Frame.module.css';

/** Says above a page whose answers it shows, where these are somebody else's, and ends that. */
export const ViewingBanner = (): ReactNode => {
  const { t } = useTranslation();
  return (
    viewedAs !== null && (
      <div className={classes['viewing']} role="region" aria-label={t('frame.viewing')}>
        <span>{t('frame.viewingAs', { email: viewedAs })}</span>
        <button type="button" onClick={stopViewing}>
          {t('frame.stop')}
        </button>
      </div>
    )
  );
};
