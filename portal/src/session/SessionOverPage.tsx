import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../theme/Button.js';
import { Themed } from '../theme/Themed.js';
import { MiddleCard } from '../ui/MiddleCard.js';
import { PageTitle } from '../ui/PageTitle.js';
import { signIn } from './session.js';

/** The session has ended before anything was shown: nothing can be lost by signing in again. */
const SessionOverPage = (): ReactNode => {
  const { t } = useTranslation();
  return (
    <MiddleCard title={t('session.over')}>
      <PageTitle title="titles.signIn" />
      <p className="muted">{t('session.overText')}</p>
      <Themed>
        <Button variant="filled" onClick={() => void signIn()}>
          {t('session.signIn')}
        </Button>
      </Themed>
    </MiddleCard>
  );
};

export default SessionOverPage;
