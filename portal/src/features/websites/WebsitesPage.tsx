import { useInfiniteQuery } from '@tanstack/react-query';
import { Fragment, useEffect, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import { pathTo } from '../../paths.js';
import { Button } from '../../theme/Button.js';
import { useAnnounce } from '../../ui/Announcer.js';
import { More } from '../../ui/More.js';
import { PageHead } from '../../ui/PageHead.js';
import { RowBones, Skeleton } from '../../ui/skeletons.js';
import { Loaded, StateCard } from '../../ui/states.js';
import { useMayWrite } from '../../ui/useMayWrite.js';
import { filterIn, isNarrowed, paramsOf, type Filter } from './filter.js';
import { Filters } from './parts/Filters.js';
import { WebsiteTable } from './parts/WebsiteTable.js';
import { websitesQuery } from './queries.js';

const WebsitesPage = (): ReactNode => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const mayWrite = useMayWrite();
  const [params, setParams] = useSearchParams();
  const filter = filterIn(params);
  const list = useInfiniteQuery(websitesQuery(filter));
  const total = list.data?.pages[0]?.total;
  const narrowed = isNarrowed(filter);
  const isFirstUse = total === 0 && !narrowed && !filter.archived;

  const title =
    total === undefined
      ? t('titles.websites')
      : isFirstUse
        ? t('websites.firstUse')
        : t(narrowed ? 'websites.found' : filter.archived ? 'websites.countArchived' : 'websites.count', { count: total });
  const said = useRef<string>(undefined);
  useEffect(() => {
    if (total === undefined || said.current === title) return;
    if (said.current !== undefined) announce(title);
    said.current = title;
  }, [announce, title, total]);

  const change = (part: Partial<Filter>): void => {
    // Of two changes in a row, the first stands in the address before the page shows it.
    const newest = filterIn(new URLSearchParams(location.search));
    setParams(paramsOf({ ...newest, ...part }), { replace: true, preventScrollReset: true });
  };
  const create = (
    <Button component={Link} to={pathTo('newWebsite')} variant="filled">
      {t('websites.create')}
    </Button>
  );
  return (
    <>
      <PageHead
        title={title}
        lead={isFirstUse ? t('websites.firstUseText') : undefined}
        actions={mayWrite ? create : undefined}
      />
      {!isFirstUse && <Filters filter={filter} onChange={change} />}
      <Loaded
        query={list}
        skeleton={
          <Skeleton>
            <RowBones rows={8} />
          </Skeleton>
        }
      >
        {({ pages }) => {
          const websites = pages.flatMap(({ items }) => items);
          return websites.length > 0 ? (
            // Another filter is another list.
            <Fragment key={paramsOf(filter).toString()}>
              <WebsiteTable websites={websites} />
              <More list={list}>{t('websites.more', { shown: websites.length, total })}</More>
            </Fragment>
          ) : isFirstUse ? (
            <p>
              <Link to={`${pathTo('websites')}?archived=true`}>{t('websites.lookAtArchived')}</Link>
            </p>
          ) : (
            <StateCard
              title={t(narrowed ? 'websites.noMatch' : 'websites.noneArchived')}
              actions={<Button onClick={() => setParams({}, { replace: true })}>{t('websites.clear')}</Button>}
            >
              {narrowed && t('websites.noMatchText')}
            </StateCard>
          );
        }}
      </Loaded>
    </>
  );
};

export default WebsitesPage;
