import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { AnalyticsReport } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams, useSearchParams } from 'react-router';
import { SegmentedControl } from '../../theme/SegmentedControl.js';
import { Asked } from '../../ui/Asked.js';
import lists from '../../ui/lists.module.css';
import { PageHead } from '../../ui/PageHead.js';
import { Bone, HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { StateCard } from '../../ui/states.js';
import { websiteQuery } from '../website/queries.js';
import classes from './AnalyticsPage.module.css';
import { Chart } from './parts/Chart.js';
import { CountTable } from './parts/CountTable.js';
import { analyticsQuery } from './queries.js';
import { rangeBefore, rangeOf, spanOf, spans, type Span } from './range.js';

/** How the service, and Plausible, name visits that came by no link. */
const direct = 'Direct / None';

/** How it was in the days before, in words. */
const useComparison = (span: Span): ((now: number, before: number | undefined) => string) => {
  const { t } = useTranslation();
  return (now, before) => {
    if (before === undefined || now + before === 0) return '';
    const days = { days: span };
    if (before === now) return t('analytics.asMany', days);
    if (before === 0) return t('analytics.noneBefore', days);
    const share = Math.abs(now - before) / before;
    return t(now > before ? 'analytics.more' : 'analytics.fewer', { ...days, share });
  };
};

const Figures = ({ report, span }: { readonly report: AnalyticsReport; readonly span: Span }): ReactNode => {
  const { t } = useTranslation();
  const { websiteId = '' } = useParams();
  const website = useQuery(websiteQuery(websiteId)).data;
  if (report.visitors === 0 && report.pageviews === 0) {
    return (
      <StateCard title={t('analytics.none')}>
        {t(website !== undefined && website.url === undefined ? 'analytics.notOnline' : 'analytics.noneText')}
      </StateCard>
    );
  }
  return (
    <>
      <Chart series={report.series} />
      <div className={classes['columns']}>
        <CountTable
          title={t('analytics.pages')}
          head={[t('analytics.page'), t('analytics.visitors'), t('analytics.views')]}
          rows={report.topPages.map(({ page, visitors, pageviews }) => [page, visitors, pageviews])}
          empty={t('analytics.noPages')}
        />
        <CountTable
          title={t('analytics.sources')}
          head={[t('analytics.source'), t('analytics.visitors')]}
          rows={report.sources.map(({ source, visitors }) => [source === direct ? t('analytics.direct') : source, visitors])}
          empty={t('analytics.noSources')}
        />
      </div>
      <p className="small muted">{t('analytics.how', { days: span })}</p>
    </>
  );
};

const AnalyticsPage = (): ReactNode => {
  const { t } = useTranslation();
  const { websiteId = '' } = useParams();
  const [search, setSearch] = useSearchParams();
  const span = spanOf(search.get('days'));
  const range = rangeOf(span);
  const report = useQuery({ ...analyticsQuery(websiteId, range), placeholderData: keepPreviousData });
  const before = useQuery(analyticsQuery(websiteId, rangeBefore(range, span)));
  const comparisonOf = useComparison(span);
  const choice = (
    <SegmentedControl
      className={classes['range'] ?? ''}
      aria-label={t('analytics.range')}
      value={String(span)}
      onChange={(days) => setSearch({ days }, { replace: true })}
      data={spans.map((days) => ({ value: String(days), label: t('analytics.days', { count: days }) }))}
    />
  );
  return (
    <Asked
      query={report}
      words={{ name: t('titles.analytics'), unreachable: t('analytics.unreachable') }}
      skeleton={
        <Skeleton>
          <HeadingBone />
          <Bone height="200px" />
          <RowBones rows={5} />
        </Skeleton>
      }
    >
      {(data) => (
        <div className={lists['section']}>
          <PageHead
            title={t('analytics.title', { count: data.visitors, days: span })}
            lead={[
              comparisonOf(data.visitors, before.data?.visitors),
              data.pageviews > 0 ? t('analytics.viewed', { count: data.pageviews }) : '',
            ]
              .filter(Boolean)
              .join(' ')}
            actions={choice}
          />
          <div className={classes['figures']} aria-busy={report.isPlaceholderData}>
            <Figures report={data} span={span} />
          </div>
        </div>
      )}
    </Asked>
  );
};

export default AnalyticsPage;
