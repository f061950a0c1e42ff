import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { buttonLook } from '../ui/buttonLook.js';
import { MiddleCard } from '../ui/MiddleCard.js';
import { PageTitle } from '../ui/PageTitle.js';
import { signIn } from './session.js';

/** The session has ended before anything was shown: nothing can be lost by signing in again. */
export const SessionOverPage = (): ReactNode => {
  const { t } = useTranslation();
  return (
    <MiddleCard title={t('session.over')}>
      <PageTitle title="titles.signIn" />
      <p className="muted">{t('session.overText')}</p>
      <button type="button" className={buttonLook('primary')} onClick={() => void signIn()}>
        {t('session.signIn')}
      </button>
    </MiddleCard>
  );
};
