import { useEffect, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'react-router';
import { brandName } from '../../page.js';
import { canSignIn, signIn } from '../../session/session.js';
import { Button } from '../../theme/Button.js';
import { MiddleCard } from '../../ui/MiddleCard.js';

/** Leads to the identity provider; whoever opens the page by its address presses a button first. */
const SignInPage = (): ReactNode => {
  const { t } = useTranslation();
  const { back } = (useLocation().state ?? {}) as { readonly back?: string };
  useEffect(() => {
    if (canSignIn && back !== undefined) void signIn({ back });
  }, [back]);
  return (
    <MiddleCard title={t('signIn.title', { brand: brandName })}>
      <p className="muted">
        {t(canSignIn ? 'signIn.text' : isSecureContext ? 'signIn.notSetUp' : 'signIn.insecure', { brand: brandName })}
      </p>
      {canSignIn && (
        <Button variant="filled" onClick={() => void signIn({ back: back ?? '/app/' })}>
          {t('session.signIn')}
        </Button>
      )}
    </MiddleCard>
  );
};

export default SignInPage;
