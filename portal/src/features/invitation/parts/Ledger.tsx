import type { TransferLedger } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { brandName } from '../../../page.js';
import { moneyText } from '../../billing/money.js';
import classes from './Ledger.module.css';

type Payment = TransferLedger['pays'][number];

const Price = ({ payment: { price, priceUnavailable } }: { readonly payment: Payment }): ReactNode => {
  const { t } = useTranslation();
  if (priceUnavailable === true) return ` ${t('invitation.priceUnavailable')}`;
  if (price?.amount === undefined || price.currency === undefined) return ` ${t('invitation.priceAgreed', { brand: brandName })}`;
  const amount = moneyText(price.amount, price.currency);
  return ` ${price.interval === undefined ? t('invitation.price', { amount }) : t(`invitation.pricePer.${price.interval}`, { amount })}`;
};

const Payer = ({ payment }: { readonly payment: Payment }): ReactNode => {
  const { t } = useTranslation();
  const { who, subscription } = payment;
  if (who === 'agency') return t('invitation.pays.agency', { brand: brandName });
  if (who === 'owner') return t('invitation.pays.owner');
  if (subscription !== undefined) return t('invitation.pays.existing');
  return (
    <>
      {t('invitation.pays.new')}
      <Price payment={payment} />
    </>
  );
};

const Part = ({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode => (
  <section className={classes['part']}>
    <h2>{title}</h2>
    <ul>{children}</ul>
  </section>
);

/** What one gets with a website, what stays, who pays from when, and what is not as it should be. */
export const Ledger = ({ ledger: { moves, stays, pays, missing } }: { readonly ledger: TransferLedger }): ReactNode => {
  const { t } = useTranslation();
  // Whoever reads this is signed in with the invited address.
  const open = missing.filter(({ item }) => item !== 'recipient');
  return (
    <>
      <Part title={t('invitation.movesTitle')}>
        {moves.map(({ item, count }) => (
          <li key={item}>{t(`invitation.moves.${item}`, { count: count ?? 1 })}</li>
        ))}
      </Part>
      <Part title={t('invitation.paysTitle')}>
        {pays.map((payment) => (
          <li key={payment.who}>
            <Payer payment={payment} />
          </li>
        ))}
      </Part>
      <Part title={t('invitation.staysTitle')}>
        {stays.map(({ item, count }) => (
          <li key={item}>{t(`invitation.stays.${item}`, { count: count ?? 1, brand: brandName })}</li>
        ))}
      </Part>
      {open.length > 0 && (
        <Part title={t('invitation.missingTitle')}>
          {open.map(({ item, count }) => (
            <li key={item}>{t(`invitation.missing.${item}`, { count: count ?? 1 })}</li>
          ))}
        </Part>
      )}
    </>
  );
};
