import type { DeliveryChange } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { momentText, Time } from '../../../ui/dates.js';
import type { ChangeWords } from '../changeWords.js';
import classes from '../history.module.css';

interface ChangeRowProps {
  readonly entry: DeliveryChange;
  readonly words: readonly ChangeWords[];
  /** Whether the block of then is shown beside. */
  readonly isShown: boolean;
  readonly mayWrite: boolean;
  readonly onUndo: () => void;
}

/** One change: what, why, who, by which way and when. */
export const ChangeRow = ({ entry, words, isShown, mayWrite, onUndo }: ChangeRowProps): ReactNode => {
  const { t } = useTranslation();
  const { revision, at, actor, reason, reasonVisible } = entry;
  return (
    <li aria-current={isShown ? 'true' : undefined}>
      <div className={classes['what']}>
        {words
          .map(({ key, values }) => t(`history.words.${key}`, values))
          .map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
        {reason !== undefined && (
          <p className={classes['why']}>
            {t('history.quoted', { reason })}{' '}
            <span className="small muted">{t(reasonVisible === true ? 'history.clientsRead' : 'history.agencyReads')}</span>
          </p>
        )}
        <p className="small muted">
          {t('history.by', { who: actor.name ?? actor.subject, via: t(`history.via.${actor.via}`) })} ·{' '}
          <Time at={at} kind="moment">
            {momentText(at)}
          </Time>
        </p>
      </div>
      <div className={`small ${classes['deeds'] ?? ''}`}>
        <Link to={{ search: `?at=${encodeURIComponent(at)}` }}>
          {t('history.asItWas')}
          <span className={classes['spoken']}> {momentText(at)}</span>
        </Link>
        {mayWrite &&
          (revision === 0 ? (
            <span className="muted">{t('history.setUpStays')}</span>
          ) : (
            <button type="button" onClick={onUndo}>
              {t('history.undo')}
              <span className={classes['spoken']}> {momentText(at)}</span>
            </button>
          ))}
      </div>
    </li>
  );
};
