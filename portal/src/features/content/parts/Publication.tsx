import { DoorstepError, type Deployment } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { inReadersLanguage } from '../../../i18n/serviceWords.js';
import { pathTo } from '../../../paths.js';
import { Button } from '../../../theme/Button.js';
import { useAnnounce } from '../../../ui/Announcer.js';
import { momentText } from '../../../ui/dates.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import { deploymentsQuery } from '../../deployments/queries.js';
import { usePreview, usePublish } from '../mutations.js';
import classes from './Publication.module.css';

/** How far the build is that a publication has begun. */
const Progress = ({ started, websiteId }: { readonly started: Deployment; readonly websiteId: string }): ReactNode => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const deployments = useQuery(deploymentsQuery(websiteId)).data;
  const { status, url, error } = deployments?.find(({ id }) => id === started.id) ?? started;
  const words = t(`content.publication.${status}`);
  useEffect(() => announce(words), [announce, words]);
  return (
    <p>
      <b>{words}</b>{' '}
      {status === 'ready' && url !== undefined && (
        <a href={url} target="_blank" rel="noreferrer">
          {t('content.openSite')}
        </a>
      )}
      {status === 'failed' && (
        <>
          {error !== undefined && inReadersLanguage(error)}{' '}
          <Link to={pathTo('deployments', { websiteId })}>{t('titles.deployments')}</Link>
        </>
      )}
    </p>
  );
};

/** Why there is no draft: a refusal says so itself. */
const PreviewFault = ({ error }: { readonly error: unknown }): ReactNode => {
  const { t } = useTranslation();
  if (error instanceof DoorstepError && error.code === 'preview_not_available') {
    return <p role="alert">{t('content.previewNotAvailable')}</p>;
  }
  return <FaultLine error={error} />;
};

interface PublicationProps {
  readonly websiteId: string;
  /** How many documents the site does not show as they were saved. */
  readonly unpublished: number;
}

/** Looks at a draft of what is saved, and puts it onto the site. */
export const Publication = ({ websiteId, unpublished }: PublicationProps): ReactNode => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const preview = usePreview(websiteId);
  const publish = usePublish(websiteId);
  const draft = preview.data;
  return (
    <section className={`card ${classes['bar'] ?? ''}`} aria-label={t('content.publish')}>
      <div className={classes['words']}>
        {publish.data === undefined || unpublished > 0 ? (
          <p className="muted">{t(unpublished > 0 ? 'content.publishText' : 'content.nothingToPublish')}</p>
        ) : null}
        {publish.data !== undefined && <Progress started={publish.data} websiteId={websiteId} />}
        {draft !== undefined && (
          <p>
            <a href={draft.url} target="_blank" rel="noreferrer">
              {t('content.openDraft')}
            </a>
            <br />
            <span className="muted">{t('content.draftUntil', { time: momentText(draft.expiresAt) })}</span>
          </p>
        )}
        <PreviewFault error={preview.error} />
        <FaultLine error={publish.error} />
      </div>
      <div className={classes['actions']}>
        <Button
          loading={preview.isPending}
          onClick={() => preview.mutate(undefined, { onSuccess: () => announce(t('content.draftReady')) })}
        >
          {t('content.preview')}
        </Button>
        <Button variant="filled" disabled={unpublished === 0} loading={publish.isPending} onClick={() => publish.mutate()}>
          {t('content.publish')}
        </Button>
      </div>
    </section>
  );
};
