import type { DeliveryBlock, VisibleDeliveryChange } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { locale } from '../../../i18n/locale.js';
import { countsOf, ProgressBar } from '../../../ui/marks.js';
import { dayText, daysUntil, relativeText, Time } from '../../../ui/dates.js';
import { lastMove } from '../sentences.js';
import classes from '../status.module.css';

interface AnswerProps {
  readonly name: string;
  readonly block: DeliveryBlock;
  readonly changes: readonly VisibleDeliveryChange[];
  /** Where it is not the first line of its page. */
  readonly heading?: 'h1' | 'h3';
}

/** "In 30 days." */
const asSentence = (words: string): string => `${words.slice(0, 1).toLocaleUpperCase(locale())}${words.slice(1)}.`;

const listOf = (labels: readonly string[]): string => new Intl.ListFormat(locale()).format(labels);

/** When it is ready, what is done, and why that moved. */
export const Answer = ({
  name,
  block: { estimatedCompletionAt: eta, checkpoints },
  changes,
  heading: Heading = 'h1',
}: AnswerProps): ReactNode => {
  const { t } = useTranslation();
  const counts = countsOf(checkpoints);
  const count = checkpoints.length;
  const isReady = count > 0 && counts.done === count;
  const isDayOver = daysUntil(eta, 'day') < 0;
  const day = dayText(eta, 'day');
  const move = isReady ? undefined : lastMove(changes);
  const from = move === undefined ? '' : dayText(move.from, 'day');

  const finishedAt = checkpoints
    .flatMap(({ completedAt }) => completedAt ?? [])
    .sort()
    .at(-1);
  const [isNow, current] = counts.in_progress > 0 ? [true, 'in_progress'] : [false, 'pending'];
  const labels = checkpoints.filter(({ status }) => status === current).map(({ label }) => label);
  // Of what is to come, the next one.
  const named = isNow ? listOf(labels) : (labels[0] ?? '');

  return (
    <div className={classes['answer']}>
      <p className="muted">{name}</p>
      <Heading>
        {isReady
          ? finishedAt === undefined
            ? t('status.ready')
            : t('status.readySince', { day: dayText(finishedAt, 'moment') })
          : t(isDayOver ? 'status.wasToBe' : 'status.readyBy', { day })}
      </Heading>
      <p className={classes['sub']}>
        {isReady ? (
          t('status.allDone', { count })
        ) : (
          <>
            <Time at={eta} kind="day">
              {isDayOver ? t('status.thatWas', { when: relativeText(eta, 'day') }) : asSentence(relativeText(eta, 'day'))}
            </Time>
            {count > 0 && (
              <>
                {' '}
                {t(isNow ? 'status.stepsNow' : 'status.stepsNext', { count, done: counts.done })} <b>{named}</b>.
              </>
            )}
          </>
        )}
      </p>
      {move !== undefined && (
        <p className={classes['why']}>
          {move.reason === undefined ? t('status.moved', { from }) : t('status.movedWhy', { from, reason: move.reason })}
        </p>
      )}
      {count > 0 && (
        <>
          <div className={classes['bar']}>
            <ProgressBar counts={counts} />
          </div>
          {/* The bar says it to those who do not see it. */}
          <p className={`small muted ${classes['legend'] ?? ''}`} aria-hidden="true">
            {counts.done > 0 && <span>{t('status.countDone', { count: counts.done })}</span>}
            {counts.in_progress > 0 && <span>{t('status.countUnderWay', { count: counts.in_progress })}</span>}
            {counts.pending > 0 && <span>{t('status.countToCome', { count: counts.pending })}</span>}
          </p>
        </>
      )}
    </div>
  );
};
