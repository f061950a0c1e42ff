import type { Invitation } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { brandName } from '../../../page.js';
import { pathTo } from '../../../paths.js';
import { signIn } from '../../../session/session.js';
import { Button } from '../../../theme/Button.js';
import { dayText } from '../../../ui/dates.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import { MiddleCard } from '../../../ui/MiddleCard.js';
import { Bone, Skeleton } from '../../../ui/skeletons.js';
import { Loaded } from '../../../ui/states.js';
import { useMayWrite } from '../../../ui/useMayWrite.js';
import { useClaim } from '../mutations.js';
import { ledgerQuery } from '../queries.js';
import { Ledger } from './Ledger.js';

/** One question and one answer: accept it? Of a transfer with what it comes to. */
export const Pending = ({ invitation }: { readonly invitation: Invitation }): ReactNode => {
  const { t } = useTranslation();
  const { id, kind, role, email, websiteId, websiteName: website = '', expiresAt } = invitation;
  const isTransfer = kind === 'ownership_transfer';
  const ledger = useQuery({ ...ledgerQuery(websiteId, id), enabled: isTransfer });
  const claim = useClaim(id);
  const mayWrite = useMayWrite();
  const navigate = useNavigate();
  const accept = (): void =>
    claim.mutate(undefined, { onSuccess: () => void navigate(pathTo('status', { websiteId }), { replace: true }) });
  return (
    <MiddleCard title={t(isTransfer ? 'invitation.handsOver' : 'invitation.invites', { brand: brandName, website })}>
      {isTransfer ? (
        <Loaded
          query={ledger}
          skeleton={
            <Skeleton>
              <Bone width="40%" />
              <Bone height="5em" />
              <Bone width="40%" />
              <Bone height="5em" />
            </Skeleton>
          }
        >
          {(found) => <Ledger ledger={found} />}
        </Loaded>
      ) : (
        <p className="muted">{t(role === 'editor' ? 'invitation.asEditor' : 'invitation.asViewer')}</p>
      )}
      <p className="small muted">{t('invitation.for', { email, day: dayText(expiresAt, 'moment') })}</p>
      {mayWrite && (
        <Button
          variant="filled"
          loading={claim.isPending || claim.isSuccess}
          disabled={isTransfer && ledger.data === undefined}
          onClick={accept}
        >
          {t('invitation.accept')}
        </Button>
      )}
      <FaultLine error={claim.error} />
      <Button variant="subtle" color="gray" onClick={() => void signIn({ anew: true })}>
        {t('invitation.notYou')}
      </Button>
    </MiddleCard>
  );
};
