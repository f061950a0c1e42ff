import type { Invitation } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { brandName } from '../../../page.js';
import { Button } from '../../../theme/Button.js';
import { dayText } from '../../../ui/dates.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import { MiddleCard } from '../../../ui/MiddleCard.js';
import { useMayWrite } from '../../../ui/useMayWrite.js';
import { useRequestRenewal } from '../mutations.js';

/** It has run out: one may ask for a new one. */
export const Expired = ({ invitation: { id, expiresAt, websiteName } }: { readonly invitation: Invitation }): ReactNode => {
  const { t } = useTranslation();
  const mayWrite = useMayWrite();
  const request = useRequestRenewal(id);
  return (
    <MiddleCard title={t('invitation.expired')}>
      <p className="muted">
        {t('invitation.expiredText', { website: websiteName, day: dayText(expiresAt, 'moment'), brand: brandName })}
      </p>
      <p role="status">{request.isSuccess && t('invitation.asked', { brand: brandName })}</p>
      {mayWrite && !request.isSuccess && (
        <Button variant="filled" loading={request.isPending} onClick={() => request.mutate()}>
          {t('invitation.ask')}
        </Button>
      )}
      <p className="small muted">{t('invitation.onceADay', { brand: brandName })}</p>
      <FaultLine error={request.error} />
    </MiddleCard>
  );
};
