import type { Invitation } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { useAnnounce } from '../../../ui/Announcer.js';
import { momentText, Time } from '../../../ui/dates.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import lists from '../../../ui/lists.module.css';
import { useNotice } from '../../../ui/notices.js';
import { useResend, useRevokeInvitation } from '../mutations.js';
import { PersonLinks } from './PersonLinks.js';

/** Somebody who was invited and has not accepted. */
export const InvitationRow = ({
  invitation,
  mayChange,
}: {
  readonly invitation: Invitation;
  readonly mayChange: boolean;
}): ReactNode => {
  const { t } = useTranslation();
  const { id, websiteId, email, role = 'viewer', expiresAt, sentAt, status } = invitation;
  const announce = useAnnounce();
  const notify = useNotice();
  const resend = useResend(websiteId);
  const revoke = useRevokeInvitation(websiteId);
  return (
    <li className={lists['row']}>
      <div className={lists['what']}>
        <b>{email}</b>
        <p className="muted small">
          {t(`people.roles.${role}`)} · {t(status === 'expired' ? 'people.expired' : 'people.validUntil')}{' '}
          <Time at={expiresAt} kind="moment" />
          {' · '}
          {sentAt === undefined ? (
            t('people.notSent')
          ) : (
            <>
              {t('people.sent')}{' '}
              <Time at={sentAt} kind="moment">
                {momentText(sentAt)}
              </Time>
            </>
          )}
        </p>
        <FaultLine error={resend.error ?? revoke.error} />
      </div>
      {mayChange && (
        <div className={lists['aside']}>
          <PersonLinks websiteId={websiteId} email={email} name={email} mayLook={false} />
          <Button
            loading={resend.isPending}
            aria-label={t('people.resendNamed', { email })}
            onClick={() => resend.mutate(id, { onSuccess: () => announce(t('people.resent', { email })) })}
          >
            {t('people.resend')}
          </Button>
          <Button
            loading={revoke.isPending}
            aria-label={t('people.revokeNamed', { email })}
            onClick={() => revoke.mutate(id, { onSuccess: () => notify({ words: t('people.revoked', { email }) }) })}
          >
            {t('people.revoke')}
          </Button>
        </div>
      )}
    </li>
  );
};
