import type { Website } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import { Button } from '../../theme/Button.js';
import { FaultLine } from '../../ui/FaultLine.js';
import { PageHead } from '../../ui/PageHead.js';
import { useNotice } from '../../ui/notices.js';
import { HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { Loaded } from '../../ui/states.js';
import { useIsAdmin, useMayWrite } from '../../ui/useMayWrite.js';
import { useRedeploy } from '../deployments/mutations.js';
import { useMe } from '../me/queries.js';
import { featuresQuery } from '../newWebsite/queries.js';
import { websiteQuery } from '../website/queries.js';
import { Blueprint } from './parts/Blueprint.js';
import { Domains } from './parts/Domains.js';
import { General } from './parts/General.js';
import { Life } from './parts/Life.js';
import { Services } from './parts/Services.js';
import classes from './SettingsPage.module.css';

/** The site still shows something older than the settings say. */
const RedeployNeeded = ({ website }: { readonly website: Website }): ReactNode => {
  const { t } = useTranslation();
  const notify = useNotice();
  const redeploy = useRedeploy(website.id);
  return (
    <section className={`card ${classes['section'] ?? ''} ${classes['needed'] ?? ''}`} aria-labelledby="settings-redeploy">
      <div className={classes['danger']}>
        <div>
          <h2 id="settings-redeploy">{t('settings.redeploy.title')}</h2>
          <p>{t('settings.redeploy.text')}</p>
          <FaultLine error={redeploy.error} />
        </div>
        <div className={classes['buttons']}>
          <Button
            loading={redeploy.isPending}
            onClick={() => redeploy.mutate(undefined, { onSuccess: () => notify({ words: t('settings.redeploy.begun') }) })}
          >
            {t('settings.redeploy.action')}
          </Button>
        </div>
      </div>
    </section>
  );
};

const Settings = ({ website }: { readonly website: Website }): ReactNode => {
  const { t } = useTranslation();
  const isAdmin = useIsAdmin();
  const mayWrite = useMayWrite();
  const { role } = useMe();
  const plan = useQuery({ ...featuresQuery, enabled: isAdmin });
  const isArchived = website.archivedAt !== undefined;
  const mayChange = isAdmin && !isArchived;
  const mayArrange = mayWrite && !isArchived && (role === 'admin' || website.via === 'owner' || website.role === 'editor');
  return (
    <>
      <PageHead
        title={website.name}
        sub={t('titles.settings')}
        lead={t('settings.lead', { tier: t(`websiteForm.tiers.${website.tier}`), slug: website.slug })}
      />
      {isAdmin && isArchived && <Life website={website} />}
      {mayChange && website.redeployNeeded === true && <RedeployNeeded website={website} />}
      {mayChange && (
        <Loaded
          query={plan}
          skeleton={
            <Skeleton>
              <RowBones rows={5} />
            </Skeleton>
          }
        >
          {(features) => <General website={website} plan={features} />}
        </Loaded>
      )}
      <Domains websiteId={website.id} mayChange={mayChange} />
      {isAdmin && <Services website={website} mayChange={mayChange} />}
      {website.features.includes('blueprint') && <Blueprint website={website} mayChange={mayArrange} />}
      {mayChange && <Life website={website} />}
    </>
  );
};

const SettingsPage = (): ReactNode => {
  const { websiteId = '' } = useParams();
  const website = useQuery(websiteQuery(websiteId));
  return (
    <Loaded
      query={website}
      skeleton={
        <Skeleton>
          <HeadingBone />
          <RowBones rows={6} />
        </Skeleton>
      }
    >
      {(data) => <Settings website={data} />}
    </Loaded>
  );
};

export default SettingsPage;
