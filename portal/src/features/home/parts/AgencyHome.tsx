import { useQueries, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { pathTo } from '../../../paths.js';
import { Button } from '../../../theme/Button.js';
import { PageHead } from '../../../ui/PageHead.js';
import { Skeleton, RowBones } from '../../../ui/skeletons.js';
import { FaultCard, Loaded } from '../../../ui/states.js';
import { attentions, type Attention } from '../keys.js';
import { attentionQuery, newestQuery, type Some } from '../queries.js';
import { AllWebsites } from './AllWebsites.js';
import { AttentionRow } from './AttentionRow.js';
import classes from './home.module.css';

const NewWebsite = (): ReactNode => {
  const { t } = useTranslation();
  return (
    <Button component={Link} to={pathTo('newWebsite')} variant="filled">
      {t('home.create')}
    </Button>
  );
};

const Group = ({ attention, some: { websites, total } }: { readonly attention: Attention; readonly some: Some }): ReactNode => {
  const { t } = useTranslation();
  return (
    <section className={classes['group']}>
      <h2>{t('home.group', { title: t(`home.${attention}`), count: total })}</h2>
      <ul className={`card ${classes['rows'] ?? ''}`}>
        {websites.map((website) => (
          <AttentionRow key={website.id} website={website} attention={attention} />
        ))}
      </ul>
      {total > websites.length && (
        <p className="small">
          <Link to={`${pathTo('websites')}?attention=${attention}`}>{t('home.all', { count: total })}</Link>
        </p>
      )}
    </section>
  );
};

const NeedsYou = (): ReactNode => {
  const { t } = useTranslation();
  const queries = useQueries({ queries: attentions.map(attentionQuery) });
  const failed = queries.find(({ isError, data }) => isError && data === undefined);
  if (failed !== undefined) return <FaultCard error={failed.error} again={() => failed.refetch()} />;
  const groups = queries.map(({ data }) => data);
  if (groups.some((some) => some === undefined)) {
    return (
      <Skeleton>
        <RowBones rows={3} />
      </Skeleton>
    );
  }
  if (groups.every((some) => some?.total === 0)) return <p className="muted">{t('home.nothing')}</p>;
  return attentions.map((attention, index) => {
    const some = groups[index];
    return some !== undefined && some.total > 0 && <Group key={attention} attention={attention} some={some} />;
  });
};

/** "What needs you": each website that does, with what is the matter and what to do; then all of them. */
export const AgencyHome = (): ReactNode => {
  const { t } = useTranslation();
  const newest = useQuery(newestQuery);
  if (newest.data?.total === 0) {
    return <PageHead title={t('home.first')} lead={t('home.firstLead')} actions={<NewWebsite />} />;
  }
  return (
    <>
      <PageHead title={t('home.title')} actions={<NewWebsite />} />
      <NeedsYou />
      <Loaded
        query={newest}
        skeleton={
          <Skeleton>
            <RowBones rows={6} />
          </Skeleton>
        }
      >
        {(some) => <AllWebsites some={some} />}
      </Loaded>
    </>
  );
};
