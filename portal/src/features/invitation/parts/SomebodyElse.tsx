import type { DoorstepError } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { signIn } from '../../../session/session.js';
import { Button } from '../../../theme/Button.js';
import { MiddleCard } from '../../../ui/MiddleCard.js';

/** As whom the service knows the reader. */
const signedInAs = ({ body }: DoorstepError): string | undefined => {
  const details: unknown = typeof body === 'object' && body !== null && 'details' in body ? body.details : undefined;
  if (typeof details !== 'object' || details === null || !('signedInAs' in details)) return undefined;
  return typeof details.signedInAs === 'string' ? details.signedInAs : undefined;
};

/** It was sent to another address than the one that somebody is signed in with. */
export const SomebodyElse = ({ error }: { readonly error: DoorstepError }): ReactNode => {
  const { t } = useTranslation();
  const email = signedInAs(error);
  return (
    <MiddleCard title={t('invitation.notYours')}>
      <p className="muted">
        {email === undefined ? t('invitation.notYoursUnverified') : t('invitation.notYoursText', { email })}
      </p>
      <Button variant="filled" onClick={() => void signIn({ anew: true })}>
        {t('invitation.signInElse')}
      </Button>
    </MiddleCard>
  );
};
