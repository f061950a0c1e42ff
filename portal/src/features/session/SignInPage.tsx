import { useEffect, useEffectEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation, useSearchParams } from 'react-router';
import { brandName } from '../../page.js';
import { besideParameter } from '../../session/beside.js';
import { canSignIn, signIn } from '../../session/session.js';
import { Button } from '../../theme/Button.js';
import { MiddleCard } from '../../ui/MiddleCard.js';

const backOf = (state: unknown): string | undefined =>
  typeof state === 'object' && state !== null && 'back' in state && typeof state.back === 'string' ? state.back : undefined;

/** Leads to the identity provider; whoever opens the page by its address presses a button first. */
const SignInPage = (): ReactNode => {
  const { t } = useTranslation();
  const back = backOf(useLocation().state);
  const [parameters] = useSearchParams();
  const beside = parameters.get(besideParameter) ?? undefined;
  const how = { back: back ?? '/app/', ...(beside !== undefined && { beside }) };
  const isLed = back !== undefined || beside !== undefined;
  const lead = useEffectEvent(() => {
    if (canSignIn && isLed) void signIn(how);
  });
  // Once: the page is left by it.
  useEffect(() => lead(), []);
  return (
    <MiddleCard title={t('signIn.title', { brand: brandName })}>
      <p className="muted">
        {t(canSignIn ? 'signIn.text' : isSecureContext ? 'signIn.notSetUp' : 'signIn.insecure', { brand: brandName })}
      </p>
      {canSignIn && (
        <Button variant="filled" onClick={() => void signIn(how)}>
          {t('session.signIn')}
        </Button>
      )}
    </MiddleCard>
  );
};

export default SignInPage;
