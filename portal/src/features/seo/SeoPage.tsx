import type { SeoReport, SeoScan } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useId, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import { inReadersLanguage } from '../../i18n/serviceWords.js';
import { Button } from '../../theme/Button.js';
import { useAnnounce } from '../../ui/Announcer.js';
import { Asked } from '../../ui/Asked.js';
import { momentText, Time } from '../../ui/dates.js';
import { FaultLine } from '../../ui/FaultLine.js';
import lists from '../../ui/lists.module.css';
import { PageHead } from '../../ui/PageHead.js';
import { HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { useIsAdmin } from '../../ui/useMayWrite.js';
import { useScan } from './mutations.js';
import { Findings } from './parts/Findings.js';
import { Probes } from './parts/Probes.js';
import { seoQuery } from './queries.js';

const isUnderWay = (scan: SeoScan | null): boolean => scan?.status === 'queued' || scan?.status === 'running';

const countOf = ({ findings = [] }: SeoScan, severity: 'error' | 'warning' | 'notice'): number =>
  findings.filter((finding) => finding.severity === severity).length;

/** What the newest scan means, in a sentence. */
const useAnswer = () => {
  const { t } = useTranslation();
  return (scan: SeoScan | undefined): string => {
    if (scan === undefined) return t('seo.none');
    const [errors, warnings, notices] = [countOf(scan, 'error'), countOf(scan, 'warning'), countOf(scan, 'notice')];
    if (errors > 0) return t('seo.hindered', { count: errors });
    if (warnings > 0) return t('seo.couldBeBetter', { count: warnings });
    return notices > 0 ? t('seo.nearlyPerfect', { count: notices }) : t('seo.perfect');
  };
};

/** Says that a scan has ended to those who do not see it. */
const useScanEnd = (latest: SeoScan | null | undefined): void => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const wasUnderWay = useRef(false);
  const status = latest?.status;
  useEffect(() => {
    const ended = status === 'completed' || status === 'failed';
    if (wasUnderWay.current && ended) announce(t(status === 'completed' ? 'seo.ended' : 'seo.failed'));
    wasUnderWay.current = status === 'queued' || status === 'running';
  }, [status, announce, t]);
};

const Past = ({ scans }: { readonly scans: readonly SeoScan[] }): ReactNode => {
  const { t } = useTranslation();
  const id = useId();
  if (scans.length === 0) return null;
  return (
    <section className={lists['section']} aria-labelledby={id}>
      <h2 id={id}>{t('seo.past')}</h2>
      <div className={`card ${lists['wide'] ?? ''}`}>
        <table className={lists['table']} aria-labelledby={id}>
          <thead>
            <tr>
              <th scope="col">{t('seo.when')}</th>
              <th scope="col" className={lists['number']}>
                {t('seo.score')}
              </th>
              <th scope="col">{t('seo.result')}</th>
            </tr>
          </thead>
          <tbody>
            {scans.map((scan) => (
              <tr key={scan.id}>
                <td>
                  <Time at={scan.requestedAt} kind="moment">
                    {momentText(scan.requestedAt)}
                  </Time>
                </td>
                <td className={lists['number']}>{scan.score ?? '–'}</td>
                <td>
                  {scan.status === 'failed'
                    ? t('seo.failed')
                    : t('seo.counts', {
                        errors: countOf(scan, 'error'),
                        warnings: countOf(scan, 'warning'),
                        notices: countOf(scan, 'notice'),
                      })}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
};

const Report = ({
  report: { latest, past },
  scanNow,
}: {
  readonly report: SeoReport;
  readonly scanNow: ReactNode;
}): ReactNode => {
  const { t } = useTranslation();
  const answerOf = useAnswer();
  const scans = latest === null ? [] : [latest, ...past];
  const result = scans.find(({ status }) => status === 'completed');
  const facts = result !== undefined && [
    t('seo.scored', { score: result.score ?? 0, time: momentText(result.finishedAt ?? result.requestedAt) }),
    t(result.complete === false ? 'seo.pagesOfMore' : 'seo.pages', { count: result.pages ?? 0 }),
  ];
  const isWaiting = isUnderWay(latest);
  const hasFailed = latest?.status === 'failed';
  const lead = isWaiting
    ? t('seo.underWayText')
    : hasFailed
      ? inReadersLanguage(latest.reason ?? '')
      : facts
        ? facts.join(' ')
        : t('seo.noneText');
  return (
    <>
      <PageHead
        title={isWaiting ? t('seo.underWay') : hasFailed ? t('seo.failed') : answerOf(result)}
        lead={lead}
        actions={scanNow}
      />
      {result !== undefined && (
        <>
          {(isWaiting || hasFailed) && facts && (
            <p>
              <b>{t('seo.before')}</b> {answerOf(result)}. {facts.join(' ')}
            </p>
          )}
          <Findings findings={result.findings ?? []} />
          {result.probes !== undefined && <Probes probes={result.probes} />}
        </>
      )}
      <Past scans={scans.filter((scan) => scan !== result && !isUnderWay(scan))} />
    </>
  );
};

const SeoPage = (): ReactNode => {
  const { t } = useTranslation();
  const { websiteId = '' } = useParams();
  const isAdmin = useIsAdmin();
  const report = useQuery(seoQuery(websiteId));
  const scan = useScan(websiteId);
  useScanEnd(report.data?.latest);
  return (
    <Asked
      query={report}
      words={{ name: t('titles.seo'), unreachable: t('faults.unavailable.title') }}
      skeleton={
        <Skeleton>
          <HeadingBone />
          <RowBones rows={6} />
        </Skeleton>
      }
    >
      {(data) => (
        <>
          <Report
            report={data}
            scanNow={
              isAdmin && (
                <Button
                  variant="filled"
                  loading={scan.isPending}
                  disabled={isUnderWay(data.latest)}
                  onClick={() => scan.mutate()}
                >
                  {t('seo.scan')}
                </Button>
              )
            }
          />
          {scan.error !== null && <FaultLine error={scan.error} />}
        </>
      )}
    </Asked>
  );
};

export default SeoPage;
