import type { DeliveryBlock, VisibleDeliveryChange, Website } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { brandName } from '../../../page.js';
import { pathTo } from '../../../paths.js';
import { buttonLook } from '../../../ui/buttonLook.js';
import { dayText, timeZone } from '../../../ui/dates.js';
import { useIsAdmin, useMayWrite } from '../../../ui/useMayWrite.js';
import classes from '../status.module.css';
import { useNews } from '../useNews.js';
import { Answer } from './Answer.js';
import { Needed } from './Needed.js';
import { Preview } from './Preview.js';
import { Steps } from './Steps.js';

interface StatusProps {
  readonly website: Website;
  readonly block: DeliveryBlock;
  /** Since the plan was made, newest first. */
  readonly changes: readonly VisibleDeliveryChange[];
  readonly areReceiptsKept: boolean;
  /** The revision that the reader saw last. */
  readonly lastSeen: number | null;
}

/** The plan, from its answer to its steps. */
export const Status = ({ website, block, changes, areReceiptsKept, lastSeen }: StatusProps): ReactNode => {
  const { t } = useTranslation();
  const isAdmin = useIsAdmin();
  const mayWrite = useMayWrite();
  const { sentences, since, dismiss } = useNews(block, changes, lastSeen, website.archivedAt !== undefined);
  return (
    <>
      <Answer name={website.name} block={block} changes={changes} />
      <Needed website={website} checkpoints={block.checkpoints} />
      {sentences.length > 0 && (
        <section className={`card ${classes['news'] ?? ''}`}>
          <header>
            <h2>{since === undefined ? t('status.new') : t('status.newSince', { day: dayText(since, 'moment') })}</h2>
            {mayWrite && (
              <button type="button" className={buttonLook('quiet')} onClick={dismiss}>
                {t('status.dismiss')}
              </button>
            )}
          </header>
          <ul>
            {sentences.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </section>
      )}
      {website.archivedAt === undefined && <Preview block={block} />}
      <Steps checkpoints={block.checkpoints} />
      <footer className={`small muted ${classes['foot'] ?? ''}`}>
        <span>{t('status.times', { zone: timeZone })}</span>
        <button type="button" onClick={() => window.print()}>
          {t('status.print')}
        </button>
        {isAdmin && <Link to={pathTo('delivery', { websiteId: website.id })}>{t('status.toDelivery')}</Link>}
        {areReceiptsKept && !isAdmin && <span>{t('status.receipts', { brand: brandName })}</span>}
      </footer>
    </>
  );
};
