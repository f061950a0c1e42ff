import type { Invoice } from '@doorstep/sdk';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { ConfirmDialog } from '../../../ui/ConfirmDialog.js';
import { dayText, daysUntil, Time } from '../../../ui/dates.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import lists from '../../../ui/lists.module.css';
import { useNotice } from '../../../ui/notices.js';
import { moneyText } from '../money.js';
import { usePayInvoice, useVoidInvoice } from '../mutations.js';

interface InvoiceRowProps {
  readonly invoice: Invoice;
  readonly websiteId: string;
  /** Whether the reader keeps the ledger. */
  readonly byHand: boolean;
}

const useStatusText = (): ((invoice: Invoice) => string) => {
  const { t } = useTranslation();
  return ({ status, dueAt, paidAt, voidedAt }) => {
    if (status === 'paid')
      return paidAt === undefined ? t('billing.isPaid') : t('billing.paidOn', { day: dayText(paidAt, 'moment') });
    if (status === 'void')
      return voidedAt === undefined ? t('billing.isVoid') : t('billing.voidedOn', { day: dayText(voidedAt, 'moment') });
    if (status === 'uncollectible') return t('billing.uncollectible');
    if (dueAt === undefined) return t('billing.open');
    return t(daysUntil(dueAt, 'day') < 0 ? 'billing.wasDue' : 'billing.due', { day: dayText(dueAt, 'day') });
  };
};

/** An invoice: for what, how much, how it stands; with its link, and what an admin may do with it. */
export const InvoiceRow = ({ invoice, websiteId, byHand }: InvoiceRowProps): ReactNode => {
  const { t } = useTranslation();
  const notify = useNotice();
  const statusText = useStatusText();
  const pay = usePayInvoice(websiteId);
  const voiding = useVoidInvoice(websiteId);
  const [isAsking, setAsking] = useState(false);
  const { description, number, total, currency, createdAt, status, url } = invoice;
  const sum = moneyText(total, currency);
  const name = description ?? number ?? sum;
  return (
    <li className={lists['row']}>
      <div className={lists['what']}>
        <b>{description ?? number ?? t('billing.invoice')}</b>
        <p className="small muted">
          {description !== undefined && number !== undefined && `${number} · `}
          <Time at={createdAt} kind="moment" /> · {statusText(invoice)}
        </p>
        <FaultLine error={pay.error} />
      </div>
      <div className={lists['aside']}>
        <span className="num">{sum}</span>
        {url !== undefined && (
          <a href={url} target="_blank" rel="noreferrer" aria-label={t('billing.openOf', { name })}>
            {t('common.open')}
          </a>
        )}
        {byHand && status === 'open' && (
          <>
            <Button
              size="xs"
              loading={pay.isPending}
              aria-label={t('billing.payOf', { name })}
              onClick={() => pay.mutate(invoice, { onSuccess: () => notify({ words: t('billing.wasPaid', { name }) }) })}
            >
              {t('billing.pay')}
            </Button>
            <Button size="xs" aria-label={t('billing.voidOf', { name })} onClick={() => setAsking(true)}>
              {t('billing.void')}
            </Button>
            <ConfirmDialog
              opened={isAsking}
              onClose={() => setAsking(false)}
              title={t('billing.voidTitle', { name })}
              action={t('billing.void')}
              pending={voiding.isPending}
              error={voiding.error}
              onConfirm={() => voiding.mutate(invoice, { onSuccess: () => notify({ words: t('billing.wasVoided', { name }) }) })}
            >
              <p>{t('billing.voidText', { sum })}</p>
            </ConfirmDialog>
          </>
        )}
      </div>
    </li>
  );
};
