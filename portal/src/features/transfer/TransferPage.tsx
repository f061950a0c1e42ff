import type { Client, Invitation } from '@doorstep/sdk';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import { Button } from '../../theme/Button.js';
import { ConfirmDialog } from '../../ui/ConfirmDialog.js';
import { CopyField } from '../../ui/CopyField.js';
import { dayText, momentText, Time } from '../../ui/dates.js';
import forms from '../../ui/forms.module.css';
import lists from '../../ui/lists.module.css';
import { useNotice } from '../../ui/notices.js';
import { PageHead } from '../../ui/PageHead.js';
import { HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { Loaded } from '../../ui/states.js';
import { useIsAdmin } from '../../ui/useMayWrite.js';
import { peopleQuery } from '../people/queries.js';
import { useCancel } from './mutations.js';
import { Ledger } from './parts/Ledger.js';
import { OfferForm } from './parts/OfferForm.js';
import { Steps } from './parts/Steps.js';
import { transfersQuery } from './queries.js';

const card = `card ${forms['card'] ?? ''} ${forms['form'] ?? ''}`;

/** Hands a website over: its ownership, and with it its billing. */
const TransferPage = (): ReactNode => {
  const { websiteId = '' } = useParams();
  const transfers = useQuery(transfersQuery(websiteId));
  const people = useInfiniteQuery(peopleQuery(websiteId));
  const bones = (
    <Skeleton>
      <HeadingBone />
      <RowBones />
    </Skeleton>
  );
  // Until it is known who owns the website, nothing says that nobody does.
  return (
    <Loaded query={people} skeleton={bones}>
      {({ pages: [first] }) => (
        <Loaded query={transfers} skeleton={bones}>
          {(all) => <Transfers websiteId={websiteId} all={all} owner={first?.owner} />}
        </Loaded>
      )}
    </Loaded>
  );
};

interface TransfersProps {
  readonly websiteId: string;
  readonly all: readonly Invitation[];
  readonly owner: Client | null | undefined;
}

const Transfers = ({ websiteId, all, owner }: TransfersProps): ReactNode => {
  const { t } = useTranslation();
  const ownerName = owner?.name ?? owner?.email;
  const open = all.find(({ status }) => status === 'pending' || status === 'expired');
  const done = all.filter(({ status }) => status === 'accepted');
  return (
    <>
      <PageHead
        title={titleOf(open, ownerName, t)}
        lead={ownerName === undefined ? t('transfer.leadNobody') : t('transfer.lead', { owner: ownerName })}
      />
      <Steps transfer={open ?? done[0]} />
      {open === undefined ? <OfferForm websiteId={websiteId} /> : <Open websiteId={websiteId} transfer={open} key={open.id} />}
      {done.map((transfer) => (
        <section key={transfer.id} className={card} aria-labelledby={transfer.id}>
          <h2 id={transfer.id}>{t('transfer.accepted', { email: transfer.email })}</h2>
          <Ledger websiteId={websiteId} transferId={transfer.id} />
        </section>
      ))}
    </>
  );
};

const titleOf = (open: Invitation | undefined, owner: string | undefined, t: TFunction): string => {
  if (open?.status === 'expired') return t('transfer.titleExpired', { email: open.email });
  if (open !== undefined) return t('transfer.titleOpen', { email: open.email, day: dayText(open.expiresAt, 'moment') });
  return owner === undefined ? t('transfer.titleNobody') : t('transfer.title', { owner });
};

const Open = ({ websiteId, transfer }: { readonly websiteId: string; readonly transfer: Invitation }): ReactNode => {
  const { t } = useTranslation();
  const mayChange = useIsAdmin();
  const notify = useNotice();
  const cancel = useCancel(websiteId);
  const [isAsking, setAsking] = useState(false);
  const { id, email, claimUrl, sentAt, expiresAt, status } = transfer;
  return (
    <>
      <section className={card} aria-labelledby="open">
        <h2 id="open">{t('transfer.open')}</h2>
        <p>
          {email} · {t(status === 'expired' ? 'people.expired' : 'people.validUntil')} <Time at={expiresAt} kind="moment" /> ·{' '}
          {sentAt === undefined ? (
            t('transfer.notSent')
          ) : (
            <>
              {t('people.sent')}{' '}
              <Time at={sentAt} kind="moment">
                {momentText(sentAt)}
              </Time>
            </>
          )}
        </p>
        {claimUrl !== undefined && status === 'pending' && <CopyField label={t('transfer.link')} value={claimUrl} />}
        <p className="muted small">{t('transfer.linkText', { email })}</p>
        <Ledger websiteId={websiteId} transferId={id} />
        {mayChange && (
          <div className={forms['actions']}>
            <Button onClick={() => setAsking(true)}>{t('transfer.cancel')}</Button>
          </div>
        )}
      </section>
      {mayChange && (
        <details className={lists['section']}>
          <summary className={lists['summary']}>{t('transfer.again')}</summary>
          <OfferForm websiteId={websiteId} email={email} />
        </details>
      )}
      <ConfirmDialog
        opened={isAsking}
        onClose={() => setAsking(false)}
        title={t('transfer.cancelTitle', { email })}
        action={t('transfer.cancel')}
        pending={cancel.isPending}
        error={cancel.error}
        onConfirm={() => cancel.mutate(id, { onSuccess: () => notify({ words: t('transfer.cancelled', { email }) }) })}
      >
        <p>{t('transfer.cancelText')}</p>
      </ConfirmDialog>
    </>
  );
};

export default TransferPage;
