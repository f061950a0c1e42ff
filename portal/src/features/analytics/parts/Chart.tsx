import type { AnalyticsReport } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { dayText } from '../../../ui/dates.js';
import lists from '../../../ui/lists.module.css';
import { numberText } from '../../../ui/numbers.js';
import classes from './Chart.module.css';
import { CountTable } from './CountTable.js';

/** Of a bar, in hundredths of the highest. A day with visitors always shows. */
const heightOf = (visitors: number, highest: number): number => (visitors === 0 ? 0 : Math.max(1.5, (visitors / highest) * 100));

/** Visitors by day: a bar each, and the same as a table. */
export const Chart = ({ series }: { readonly series: AnalyticsReport['series'] }): ReactNode => {
  const { t } = useTranslation();
  const highest = Math.max(1, ...series.map(({ visitors }) => visitors));
  const best = series.reduce<(typeof series)[number] | undefined>(
    (top, day) => (top === undefined || day.visitors > top.visitors ? day : top),
    undefined,
  );
  const [first] = series;
  const last = series.at(-1);
  if (best === undefined || first === undefined || last === undefined) return null;
  const most = t('analytics.most', { count: best.visitors, day: dayText(best.date, 'day') });
  return (
    <section className={`card ${classes['chart'] ?? ''}`}>
      <h2>{t('analytics.byDay')}</h2>
      <p className="muted small">{most}</p>
      <div className={classes['plot']}>
        <span className={classes['top']} aria-hidden="true">
          {numberText(highest)}
        </span>
        <svg
          className={classes['bars']}
          viewBox={`0 0 ${String(series.length)} 100`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${t('analytics.byDay')}. ${most}`}
        >
          {series.map(({ date, visitors }, place) => {
            const height = heightOf(visitors, highest);
            return (
              <g key={date}>
                <title>{t('analytics.onDay', { count: visitors, day: dayText(date, 'day') })}</title>
                <rect className={classes['day']} x={place} y={0} width={1} height={100} />
                <rect className={classes['bar']} x={place + 0.12} y={100 - height} width={0.76} height={height} />
              </g>
            );
          })}
        </svg>
      </div>
      <p className={`small muted ${classes['axis'] ?? ''}`}>
        <span>{dayText(first.date, 'day')}</span>
        <span>{dayText(last.date, 'day')}</span>
      </p>
      <details>
        <summary className={lists['summary']}>{t('analytics.asTable')}</summary>
        <CountTable
          title={t('analytics.byDay')}
          head={[t('analytics.day'), t('analytics.visitors'), t('analytics.views')]}
          rows={series.toReversed().map(({ date, visitors, pageviews }) => [dayText(date, 'day'), visitors, pageviews])}
          empty=""
        />
      </details>
    </section>
  );
};
