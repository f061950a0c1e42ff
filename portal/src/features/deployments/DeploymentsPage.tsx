import type { Commit, Deployment } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import { isProviderFault } from '../../api/providerFault.js';
import { inReadersLanguage } from '../../i18n/serviceWords.js';
import { Button } from '../../theme/Button.js';
import { Asked } from '../../ui/Asked.js';
import { momentText, Time } from '../../ui/dates.js';
import { FaultLine } from '../../ui/FaultLine.js';
import lists from '../../ui/lists.module.css';
import { Mark } from '../../ui/marks.js';
import { useNotice } from '../../ui/notices.js';
import { PageHead } from '../../ui/PageHead.js';
import { HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { FaultCard, StateCard } from '../../ui/states.js';
import { useMe } from '../me/queries.js';
import { useMayEdit } from '../website/useMayEdit.js';
import { useRedeploy } from './mutations.js';
import { commitsQuery, deploymentsQuery } from './queries.js';
import { useBuildEnd } from './useBuildEnd.js';

/** As the source host shows them. */
const shortId = (commit: string): string => commit.slice(0, 7);

const firstLine = (message: string): string => message.split('\n')[0] ?? '';

const marks = { ready: 'done', building: 'in_progress', failed: 'pending' } as const;

const DeploymentRow = ({
  deployment: { status, url, commit, createdAt, error },
  message,
}: {
  readonly deployment: Deployment;
  readonly message: string | undefined;
}): ReactNode => {
  const { t } = useTranslation();
  return (
    <li className={lists['row']}>
      <Mark status={marks[status]} />
      <div className={lists['what']}>
        <b>{t(`deployments.status.${status}`)}</b>
        {message !== undefined && <span>: {firstLine(message)}</span>}
        {commit !== undefined && (
          <span className="small muted">
            {' '}
            <code>{shortId(commit)}</code>
          </span>
        )}
        {error !== undefined && <p className="small">{inReadersLanguage(error)}</p>}
      </div>
      <div className={`small muted ${lists['aside'] ?? ''}`}>
        <Time at={createdAt} kind="moment">
          {momentText(createdAt)}
        </Time>
        {url !== undefined && (
          <a href={url} target="_blank" rel="noreferrer" aria-label={t('deployments.openOf', { time: momentText(createdAt) })}>
            {t('deployments.open')}
          </a>
        )}
      </div>
    </li>
  );
};

const Commits = ({ websiteId }: { readonly websiteId: string }): ReactNode => {
  const { t } = useTranslation();
  const id = useId();
  const { data, error, refetch } = useQuery(commitsQuery(websiteId));
  return (
    <section className={lists['section']} aria-labelledby={id}>
      <h2 id={id}>{t('deployments.commits')}</h2>
      {data === undefined && error !== null && !isProviderFault(error) && <FaultCard error={error} again={() => refetch()} />}
      {data === undefined && isProviderFault(error) && (
        <StateCard
          title={t('deployments.commitsUnreachable')}
          actions={<Button onClick={() => void refetch()}>{t('common.tryAgain')}</Button>}
        >
          {t('asked.unreachable')}
        </StateCard>
      )}
      {data?.length === 0 && <p className="muted">{t('deployments.noCommits')}</p>}
      {data !== undefined && data.length > 0 && (
        <ul className={`card ${lists['rows'] ?? ''}`}>
          {data.map((commit) => (
            <CommitRow key={commit.id} commit={commit} />
          ))}
        </ul>
      )}
    </section>
  );
};

const CommitRow = ({ commit: { id, message, author, committedAt, url } }: { readonly commit: Commit }): ReactNode => (
  <li className={lists['row']}>
    <div className={lists['what']}>
      {firstLine(message)}
      <p className="small muted">
        {url === undefined ? (
          <code>{shortId(id)}</code>
        ) : (
          <a href={url} target="_blank" rel="noreferrer">
            <code>{shortId(id)}</code>
          </a>
        )}
        {author !== undefined && ` · ${author}`}
      </p>
    </div>
    {committedAt !== undefined && (
      <Time at={committedAt} kind="moment" className="small muted">
        {momentText(committedAt)}
      </Time>
    )}
  </li>
);

/** The one thing that a reader wants to know. */
const useAnswer = (): ((deployments: readonly Deployment[]) => { readonly title: string; readonly lead: string }) => {
  const { t } = useTranslation();
  return ([latest, ...others]) => {
    if (latest === undefined) return { title: t('deployments.none'), lead: t('deployments.noneText') };
    const served = [latest, ...others].find(({ status }) => status === 'ready');
    const before =
      served === undefined
        ? t('deployments.nothingServed')
        : t('deployments.servedSince', { time: momentText(served.createdAt) });
    if (latest.status === 'building') return { title: t('deployments.building'), lead: before };
    if (latest.status === 'failed') return { title: t('deployments.failed'), lead: before };
    return { title: t('deployments.ready', { time: momentText(latest.createdAt) }), lead: '' };
  };
};

const DeploymentsPage = (): ReactNode => {
  const { t } = useTranslation();
  const { websiteId = '' } = useParams();
  const me = useMe();
  const mayEdit = useMayEdit(websiteId);
  const deployments = useQuery(deploymentsQuery(websiteId));
  const commits = useQuery(commitsQuery(websiteId)).data;
  const redeploy = useRedeploy(websiteId);
  const notify = useNotice();
  const answerOf = useAnswer();
  useBuildEnd(deployments.data?.[0]);
  return (
    <Asked
      query={deployments}
      words={{ name: t('titles.deployments'), unreachable: t('deployments.unreachable') }}
      skeleton={
        <Skeleton>
          <HeadingBone />
          <RowBones rows={6} />
        </Skeleton>
      }
    >
      {(list) => {
        const { title, lead } = answerOf(list);
        const isHidden =
          me.role !== 'admin' && list.some(({ status }) => status === 'ready') && list.every(({ url }) => url === undefined);
        return (
          <>
            <PageHead
              title={title}
              {...(lead !== '' && { lead })}
              actions={
                mayEdit === 'yes' &&
                list.length > 0 && (
                  <Button
                    variant="filled"
                    loading={redeploy.isPending}
                    disabled={list[0]?.status === 'building'}
                    onClick={() =>
                      redeploy.mutate(undefined, {
                        onSuccess: ({ id }) => {
                          if (list.some((known) => known.id === id)) notify({ words: t('deployments.unchanged') });
                        },
                      })
                    }
                  >
                    {t('deployments.redeploy')}
                  </Button>
                )
              }
            />
            {redeploy.error !== null && <FaultLine error={redeploy.error} />}
            {list.length > 0 && (
              <section className={lists['section']} aria-label={t('titles.deployments')}>
                <ul className={`card ${lists['rows'] ?? ''}`}>
                  {list.map((deployment) => (
                    <DeploymentRow
                      key={deployment.id}
                      deployment={deployment}
                      message={commits?.find(({ id }) => id === deployment.commit)?.message}
                    />
                  ))}
                </ul>
                {isHidden && <p className="small muted">{t('deployments.hidden')}</p>}
              </section>
            )}
            <Commits websiteId={websiteId} />
          </>
        );
      }}
    </Asked>
  );
};

export default DeploymentsPage;
