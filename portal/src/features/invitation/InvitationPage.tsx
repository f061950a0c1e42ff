import { DoorstepError, type Invitation } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useParams } from 'react-router';
import { brandName } from '../../page.js';
import { pathTo } from '../../paths.js';
import { Button } from '../../theme/Button.js';
import { MiddleCard } from '../../ui/MiddleCard.js';
import { PageTitle } from '../../ui/PageTitle.js';
import { FaultCard, isOutOfReach, Waiting } from '../../ui/states.js';
import { websiteQuery } from '../website/queries.js';
import { Expired } from './parts/Expired.js';
import { Pending } from './parts/Pending.js';
import { SomebodyElse } from './parts/SomebodyElse.js';
import { invitationQuery } from './queries.js';

/** It was accepted, once: the access that it gave may have been taken away since. */
const Accepted = ({ invitation: { websiteId, websiteName = '' } }: { readonly invitation: Invitation }): ReactNode => {
  const { t } = useTranslation();
  const website = useQuery(websiteQuery(websiteId));
  if (website.isPending) return <Waiting />;
  if (isOutOfReach(website.error)) {
    return (
      <MiddleCard title={t('invitation.over')}>
        <p className="muted">{t('invitation.overText', { website: websiteName, brand: brandName })}</p>
        <p>
          <Link to={pathTo('home')}>{t('notFound.home')}</Link>
        </p>
      </MiddleCard>
    );
  }
  return (
    <MiddleCard title={t('invitation.accepted')}>
      <p className="muted">{t('invitation.acceptedText', { website: websiteName })}</p>
      <Button variant="filled" component={Link} to={pathTo('status', { websiteId })}>
        {t('invitation.goOn', { website: websiteName })}
      </Button>
    </MiddleCard>
  );
};

const Gone = (): ReactNode => {
  const { t } = useTranslation();
  return (
    <MiddleCard title={t('invitation.gone')}>
      <p className="muted">{t('invitation.goneText', { brand: brandName })}</p>
      <p>
        <Link to={pathTo('home')}>{t('notFound.home')}</Link>
      </p>
    </MiddleCard>
  );
};

/** Who invites me, to what, and what do I get? */
const InvitationPage = (): ReactNode => {
  const { t } = useTranslation();
  const { invitationId = '' } = useParams();
  const { data: invitation, error, isError, refetch } = useQuery(invitationQuery(invitationId));

  // Also when it held before: it may have been withdrawn meanwhile.
  if (isError && error instanceof DoorstepError && error.status === 404) return <Gone />;
  if (isError && error instanceof DoorstepError && error.code === 'not_your_invitation') return <SomebodyElse error={error} />;
  if (invitation === undefined && isError) {
    return (
      <MiddleCard title={t('titles.invitation')}>
        <FaultCard error={error} again={refetch} />
      </MiddleCard>
    );
  }
  if (invitation === undefined) return <Waiting />;
  const { status, websiteName } = invitation;
  return (
    <>
      <PageTitle title="titles.invitation" {...(websiteName !== undefined && { of: websiteName })} />
      {status === 'accepted' && <Accepted invitation={invitation} />}
      {status === 'expired' && <Expired invitation={invitation} />}
      {status === 'pending' && <Pending invitation={invitation} />}
      {status === 'revoked' && <Gone />}
    </>
  );
};

export default InvitationPage;
