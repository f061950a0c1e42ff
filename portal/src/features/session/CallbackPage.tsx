import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { handOver } from '../../session/beside.js';
import { completeSignIn, signIn } from '../../session/session.js';
import { Button } from '../../theme/Button.js';
import { MiddleCard } from '../../ui/MiddleCard.js';
import { Waiting } from '../../ui/states.js';

/** An answer is taken up once, however often the page is rendered. */
let completed: ReturnType<typeof completeSignIn> | undefined;

/** Where the identity provider leads back to. */
const CallbackPage = (): ReactNode => {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [state, setState] = useState<'waiting' | 'failed' | 'handedOver'>('waiting');
  useEffect(() => {
    completed ??= completeSignIn();
    void completed.then((attempt) => {
      if (attempt === 'left') return;
      if (attempt === 'failed') setState('failed');
      else if (attempt.beside === undefined) void navigate(attempt.back.replace(/^\/app/, '') || '/', { replace: true });
      else {
        handOver(attempt.beside, attempt.user);
        setState('handedOver');
      }
    });
  }, [navigate]);
  if (state === 'waiting') return <Waiting />;
  if (state === 'handedOver') {
    return (
      <MiddleCard title={t('callback.handedOver')}>
        <p className="muted">{t('callback.handedOverText')}</p>
      </MiddleCard>
    );
  }
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
