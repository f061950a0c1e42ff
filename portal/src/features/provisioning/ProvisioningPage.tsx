import type { ProvisioningJob, Website } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useParams } from 'react-router';
import { inReadersLanguage } from '../../i18n/serviceWords.js';
import { brandName } from '../../page.js';
import { pathTo } from '../../paths.js';
import { Button } from '../../theme/Button.js';
import { useAnnounce } from '../../ui/Announcer.js';
import { dayText } from '../../ui/dates.js';
import { FaultLine } from '../../ui/FaultLine.js';
import { PageHead } from '../../ui/PageHead.js';
import { HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { Loaded } from '../../ui/states.js';
import { useIsAdmin } from '../../ui/useMayWrite.js';
import { websiteQuery } from '../website/queries.js';
import { summaryQuery } from '../websites/queries.js';
import classes from './ProvisioningPage.module.css';
import { useRetry } from './mutations.js';
import { CleanUpDialog } from './parts/CleanUpDialog.js';
import { Steps, type Step } from './parts/Steps.js';
import { provisioningQuery, receiptsQuery } from './queries.js';
import { withoutStep } from './reason.js';
import { useFollowed } from './useFollowed.js';

/** The step that runs, failed or comes next. */
const currentStep = ({ steps }: ProvisioningJob): Step | undefined => steps.find(({ status }) => status !== 'succeeded');

/** What the page says first. */
const useAnswer = (job: ProvisioningJob): { readonly title: string; readonly lead: string } => {
  const { t } = useTranslation();
  const current = currentStep(job);
  const step = current === undefined ? '' : t(`provisioning.steps.${current.id}`);
  const done = t('provisioning.done', {
    done: job.steps.filter(({ status }) => status === 'succeeded').length,
    count: job.steps.length,
  });
  switch (job.status) {
    case 'queued':
      return { title: t('provisioning.queued'), lead: t('provisioning.queuedText') };
    case 'running':
      return current?.nextAttemptAt === undefined
        ? { title: t('provisioning.running', { step }), lead: done }
        : { title: t('provisioning.waiting', { step }), lead: t('provisioning.waitingText', { done }) };
    case 'failed':
      return { title: t('provisioning.failed', { step }), lead: done };
    case 'succeeded':
      return {
        title: t('provisioning.succeeded', { day: dayText(job.finishedAt ?? job.createdAt, 'moment') }),
        lead: t('provisioning.succeededText'),
      };
  }
};

/** What an admin can do about a run that failed; nothing while the website is archived. */
const Stopped = ({ job, isArchived }: { readonly job: ProvisioningJob; readonly isArchived: boolean }): ReactNode => {
  const { t } = useTranslation();
  const retry = useRetry(job.websiteId);
  const [isCleaningUp, setCleaningUp] = useState(false);
  const { remains = [], cleanup, reason = '' } = job;
  const step = currentStep(job);
  const isCleaned = cleanup?.status === 'succeeded';
  const isFirst = job.steps.every(({ status }) => status !== 'succeeded');
  const after = isCleaned || remains.length === 0 ? 'fromStart' : isFirst ? 'uncertain' : 'stays';
  return (
    <section className={classes['needed']} aria-labelledby="provisioning-stopped">
      <div>
        <h2 id="provisioning-stopped">{t(isCleaned ? 'provisioning.stopped.cleaned' : 'provisioning.stopped.title')}</h2>
        <p>{inReadersLanguage(step?.error ?? withoutStep(reason, step?.id ?? ''))}</p>
        <p className="muted small">
          {cleanup?.status === 'running' ? t('provisioning.stopped.cleaningUp') : t(`provisioning.stopped.${after}`)}
        </p>
        {cleanup?.error !== undefined && (
          <p className="small">{t('provisioning.stopped.cleanUpFailed', { error: inReadersLanguage(cleanup.error) })}</p>
        )}
        <FaultLine error={retry.error} />
      </div>
      {!isArchived && (
        <div className={classes['actions']}>
          {remains.length > 0 && cleanup?.status !== 'running' && (
            <Button onClick={() => setCleaningUp(true)}>{t('provisioning.cleanUp.action')}</Button>
          )}
          <Button
            variant="filled"
            loading={retry.isPending}
            disabled={cleanup?.status === 'running'}
            onClick={() => retry.mutate()}
          >
            {t(isCleaned ? 'provisioning.stopped.retryFromStart' : 'provisioning.stopped.retry')}
          </Button>
        </div>
      )}
      <CleanUpDialog job={job} opened={isCleaningUp} onClose={() => setCleaningUp(false)} />
    </section>
  );
};

/** What comes after a website was built, as far as it is not done. Renders nothing when all of it is. */
const Next = ({ website: { id, url, clientId } }: { readonly website: Website }): ReactNode => {
  const { t } = useTranslation();
  const { data: summary } = useQuery(summaryQuery(id));
  const hasNoPlan = summary?.id === id && summary.deliverySummary === undefined;
  if (!hasNoPlan && clientId !== undefined && url === undefined) return null;
  return (
    <section className={`card ${classes['next'] ?? ''}`}>
      <h2>{t('provisioning.next.title')}</h2>
      <ul>
        {hasNoPlan && (
          <li>
            <Link to={pathTo('delivery', { websiteId: id })}>{t('provisioning.next.delivery')}</Link>
          </li>
        )}
        {clientId === undefined && (
          <li>
            <Link to={pathTo('people', { websiteId: id })}>{t('provisioning.next.people')}</Link>
          </li>
        )}
        {url !== undefined && (
          <li>
            <a href={url} target="_blank" rel="noreferrer">
              {t('provisioning.next.open')}
            </a>
          </li>
        )}
      </ul>
    </section>
  );
};

const Provisioning = ({ job }: { readonly job: ProvisioningJob }): ReactNode => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const isAdmin = useIsAdmin();
  const { websiteId, status } = job;
  const website = useQuery(websiteQuery(websiteId));
  const hasEnded = status === 'failed' || status === 'succeeded';
  const receipts = useQuery({ ...receiptsQuery(job), enabled: isAdmin && hasEnded });
  const { title, lead } = useAnswer(job);

  const said = useRef(title);
  useEffect(() => {
    if (said.current === title) return;
    said.current = title;
    announce(title);
  }, [announce, title]);

  return (
    <>
      <PageHead
        title={title}
        sub={website.data?.name}
        lead={status === 'failed' && !isAdmin ? t('provisioning.failedForClients', { brand: brandName }) : lead}
      />
      {isAdmin && status === 'failed' && <Stopped job={job} isArchived={website.data?.archivedAt !== undefined} />}
      {isAdmin && status === 'succeeded' && website.data !== undefined && <Next website={website.data} />}
      <Steps job={job} receipts={isAdmin && hasEnded ? (receipts.data ?? []) : []} />
    </>
  );
};

const ProvisioningPage = (): ReactNode => {
  const { websiteId = '' } = useParams();
  const job = useQuery(provisioningQuery(websiteId));
  const website = useQuery(websiteQuery(websiteId));
  useFollowed(websiteId, job.data, website.data);
  return (
    <Loaded
      query={job}
      skeleton={
        <Skeleton>
          <HeadingBone />
          <RowBones rows={6} />
        </Skeleton>
      }
    >
      {(data) => <Provisioning job={data} />}
    </Loaded>
  );
};

export default ProvisioningPage;
