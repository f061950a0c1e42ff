import type { TransferLedger } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { momentText, Time } from '../../../ui/dates.js';
import { Loaded } from '../../../ui/states.js';
import { ledgerQuery } from '../queries.js';
import classes from './Steps.module.css';

/** What moves and when it was done, who pays, what stays, and what is missing. */
export const Ledger = ({ websiteId, transferId }: { readonly websiteId: string; readonly transferId: string }): ReactNode => {
  const query = useQuery(ledgerQuery(websiteId, transferId));
  return <Loaded query={query}>{(ledger) => <Parts ledger={ledger} />}</Loaded>;
};

const When = ({ at }: { readonly at: string }): ReactNode => (
  <Time at={at} kind="moment" className="muted small">
    {momentText(at)}
  </Time>
);

const Parts = ({ ledger: { moves, stays, pays, missing, status } }: { readonly ledger: TransferLedger }): ReactNode => {
  const { t } = useTranslation();
  const isClaimed = status === 'under_way' || status === 'completed';
  return (
    <>
      {missing.length > 0 && (
        <section className={classes['part']}>
          <h3>{t(isClaimed ? 'transfer.wasMissing' : 'transfer.isMissing')}</h3>
          <ul className={classes['items']}>
            {missing.map(({ item, count = 0 }) => (
              <li key={item}>{t(`transfer.missing.${item}`, { count })}</li>
            ))}
          </ul>
        </section>
      )}
      <section className={classes['part']}>
        <h3>{t('transfer.moves')}</h3>
        <ul className={classes['items']}>
          {moves.map(({ item, count = 0, doneAt }) => (
            <li key={item}>
              <span>{t(`transfer.moving.${item}`, { count })}</span>
              {doneAt !== undefined && <When at={doneAt} />}
              {doneAt === undefined && isClaimed && <span className="muted small">{t('transfer.notYet')}</span>}
            </li>
          ))}
        </ul>
      </section>
      <section className={classes['part']}>
        <h3>{t('transfer.pays')}</h3>
        <ul className={classes['items']}>
          {pays.map(({ who, subscription, from, until }) => (
            <li key={who}>
              <span>
                {t(who === 'new_owner' && subscription !== undefined ? 'transfer.payers.existing' : `transfer.payers.${who}`)}
              </span>
              {from !== undefined && <When at={from} />}
              {until !== undefined && <When at={until} />}
            </li>
          ))}
        </ul>
      </section>
      <section className={classes['part']}>
        <h3>{t('transfer.stays')}</h3>
        <ul className={classes['items']}>
          {stays.map(({ item, count = 0 }) => (
            <li key={item}>{t(`transfer.staying.${item}`, { count })}</li>
          ))}
        </ul>
      </section>
    </>
  );
};
