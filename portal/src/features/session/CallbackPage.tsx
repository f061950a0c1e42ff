import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { completeSignIn, signIn } from '../../session/session.js';
import { Button } from '../../theme/Button.js';
import { MiddleCard } from '../../ui/MiddleCard.js';
import { Waiting } from '../../ui/states.js';

/** An answer is taken up once, however often the page is rendered. */
let completed: Promise<string | null> | undefined;

/** Where the identity provider leads back to. */
const CallbackPage = (): ReactNode => {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    completed ??= completeSignIn();
    void completed.then((back) => {
      if (back === null) setFailed(true);
      else void navigate(back.replace(/^\/app/, '') || '/', { replace: true });
    });
  }, [navigate]);
  if (!hasFailed) return <Waiting />;
  return (
    <MiddleCard title={t('callback.title')}>
      <p className="muted">{t('callback.text')}</p>
      <Button variant="filled" onClick={() => void signIn({ back: '/app/' })}>
        {t('callback.again')}
      </Button>
    </MiddleCard>
  );
};

export default CallbackPage;
