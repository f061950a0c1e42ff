import { DoorstepError, type Billing, type Invoice } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useId, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import { Button } from '../../theme/Button.js';
import { Asked } from '../../ui/Asked.js';
import { dayText, daysUntil } from '../../ui/dates.js';
import { FaultLine } from '../../ui/FaultLine.js';
import lists from '../../ui/lists.module.css';
import { PageHead } from '../../ui/PageHead.js';
import { HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { StateCard } from '../../ui/states.js';
import { useIsAdmin, useMayWrite } from '../../ui/useMayWrite.js';
import { hasLedger } from '../../page.js';
import { useMe } from '../me/queries.js';
import { websiteQuery } from '../website/queries.js';
import { moneyText } from './money.js';
import { useOpenPortal } from './mutations.js';
import { AddInvoice } from './parts/AddInvoice.js';
import { InvoiceRow } from './parts/InvoiceRow.js';
import { billingQuery } from './queries.js';

const isOpen = ({ status }: Invoice): boolean => status === 'open';

/** Each currency by itself. */
const sumOf = (invoices: readonly Invoice[]): string =>
  [...new Set(invoices.map(({ currency }) => currency))]
    .map((currency) =>
      moneyText(
        invoices
          .filter((invoice) => invoice.currency === currency)
          .reduce((sum, { total, amountPaid }) => sum + total - amountPaid, 0),
        currency,
      ),
    )
    .join(' + ');

/** Whether something is to be paid, in a sentence. */
const useAnswer = (): ((billing: Billing) => string) => {
  const { t } = useTranslation();
  return ({ subscription, invoices }) => {
    const open = invoices.filter(isOpen);
    if (open.length > 0) {
      const due = open.flatMap(({ dueAt }) => dueAt ?? []).sort()[0];
      if (due === undefined) return t('billing.toPay', { sum: sumOf(open) });
      const words = daysUntil(due, 'day') < 0 ? 'billing.overdue' : 'billing.toPayBy';
      return t(words, { sum: sumOf(open), day: dayText(due, 'day') });
    }
    if (subscription === null && invoices.length === 0) return t('billing.nothing');
    return t('billing.paid');
  };
};

/** How the subscription stands, and what comes next. */
const useSubscriptionText = (): ((billing: Billing) => string) => {
  const { t } = useTranslation();
  return ({ subscription, invoices }) => {
    if (subscription === null) return invoices.length === 0 ? t('billing.nothingText') : t('billing.noSubscription');
    const { status, currentPeriodEndsAt: end, canceledAt } = subscription;
    if (status === 'canceled') {
      return canceledAt === undefined ? t('billing.ended') : t('billing.endedOn', { day: dayText(canceledAt, 'moment') });
    }
    if (canceledAt !== undefined && end !== undefined) return t('billing.endsOn', { day: dayText(end, 'moment') });
    const words = t(`billing.subscription.${status}`);
    return end === undefined || (status !== 'active' && status !== 'trialing')
      ? words
      : `${words} ${t('billing.next', { day: dayText(end, 'moment') })}`;
  };
};

const Invoices = ({
  invoices,
  websiteId,
  byHand,
}: {
  readonly invoices: readonly Invoice[];
  readonly websiteId: string;
  readonly byHand: boolean;
}): ReactNode => {
  const { t } = useTranslation();
  const id = useId();
  return (
    <section className={lists['section']} aria-labelledby={id}>
      <h2 id={id}>{t('billing.invoices')}</h2>
      {invoices.length === 0 ? (
        <p className="muted">{t('billing.noInvoices')}</p>
      ) : (
        <ul className={`card ${lists['rows'] ?? ''}`}>
          {invoices.map((invoice) => (
            <InvoiceRow key={invoice.id} invoice={invoice} websiteId={websiteId} byHand={byHand} />
          ))}
        </ul>
      )}
    </section>
  );
};

const BillingPage = (): ReactNode => {
  const { t } = useTranslation();
  const { websiteId = '' } = useParams();
  const { role } = useMe();
  const isAdmin = useIsAdmin();
  const mayWrite = useMayWrite();
  const billing = useQuery(billingQuery(websiteId));
  const website = useQuery(websiteQuery(websiteId)).data;
  const byHand = isAdmin && hasLedger && website?.archivedAt === undefined;
  const portal = useOpenPortal(websiteId);
  const [isAdding, setAdding] = useState(false);
  const answerOf = useAnswer();
  const subscriptionText = useSubscriptionText();
  const { error } = billing;
  if (billing.data === undefined && error instanceof DoorstepError && error.status === 403) {
    return (
      <>
        <PageHead title={t('billing.refused')} />
        <StateCard title={t('billing.refusedTitle')}>{t('billing.refusedText')}</StateCard>
      </>
    );
  }
  return (
    <Asked
      query={billing}
      words={{ name: t('titles.billing'), unreachable: t('billing.unreachable') }}
      skeleton={
        <Skeleton>
          <HeadingBone />
          <RowBones rows={4} />
        </Skeleton>
      }
    >
      {(data) => (
        <>
          <PageHead
            title={answerOf(data)}
            lead={subscriptionText(data)}
            actions={
              <>
                {role !== 'admin' && mayWrite && data.subscription !== null && (
                  <Button variant="filled" loading={portal.isPending} onClick={() => portal.mutate()}>
                    {t('billing.manage')}
                  </Button>
                )}
                {/* Without an owner there is nobody to write an invoice to. */}
                {byHand && website?.clientId !== undefined && (
                  <Button variant="filled" onClick={() => setAdding(true)}>
                    {t('billing.add')}
                  </Button>
                )}
              </>
            }
          />
          {portal.error instanceof DoorstepError && portal.error.status === 404 ? (
            <p role="alert">{t('billing.noPortal')}</p>
          ) : (
            portal.error !== null && <FaultLine error={portal.error} />
          )}
          <Invoices invoices={data.invoices} websiteId={websiteId} byHand={byHand} />
          {isAdding && (
            <AddInvoice websiteId={websiteId} currency={data.invoices[0]?.currency} onClose={() => setAdding(false)} />
          )}
        </>
      )}
    </Asked>
  );
};

export default BillingPage;
