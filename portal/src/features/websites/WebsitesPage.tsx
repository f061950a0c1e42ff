import { useDebouncedValue } from '@mantine/hooks';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import { pathTo } from '../../paths.js';
import { Button } from '../../theme/Button.js';
import { useAnnounce } from '../../ui/Announcer.js';
import { PageHead } from '../../ui/PageHead.js';
import { RowBones, Skeleton } from '../../ui/skeletons.js';
import { FaultCard, Loaded, StateCard } from '../../ui/states.js';
import { useMayWrite } from '../../ui/useMayWrite.js';
import { filterIn, isNarrowed, paramsOf, type Filter } from './filter.js';
import { Filters } from './parts/Filters.js';
import { WebsiteTable } from './parts/WebsiteTable.js';
import { websitesQuery } from './queries.js';

/** The pages that were asked for, one beneath the other. */
const Pages = ({ filter, total }: { readonly filter: Filter; readonly total: number }): ReactNode => {
  const { t } = useTranslation();
  const [cursors, setCursors] = useState<readonly (string | undefined)[]>([undefined]);
  const pages = useQueries({ queries: cursors.map((cursor) => websitesQuery(filter, cursor)) });
  const websites = pages.flatMap(({ data }) => data?.websites ?? []);
  const last = pages.at(-1);
  const next = last?.data?.nextCursor;
  return (
    <>
      <WebsiteTable websites={websites} />
      {last?.isError === true && <FaultCard error={last.error} again={() => last.refetch()} />}
      {(next !== undefined || last?.isPending === true) && (
        <p>
          <Button loading={last?.isPending === true} onClick={() => setCursors([...cursors, next])}>
            {t('websites.more', { shown: websites.length, total })}
          </Button>
        </p>
      )}
    </>
  );
};

const WebsitesPage = (): ReactNode => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const mayWrite = useMayWrite();
  const [params, setParams] = useSearchParams();
  const filter = filterIn(params);
  // Asked when the typing pauses, not with each key.
  const [q] = useDebouncedValue(filter.q, 200);
  const asked = { ...filter, q };
  const first = useQuery(websitesQuery(asked));
  const total = first.data?.total;
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
      {!isFirstUse && (
        <Filters filter={filter} onChange={(next) => setParams(paramsOf(next), { replace: true, preventScrollReset: true })} />
      )}
      <Loaded
        query={first}
        skeleton={
          <Skeleton>
            <RowBones rows={8} />
          </Skeleton>
        }
      >
        {({ websites, total: count = websites.length }) =>
          websites.length > 0 ? (
            <Pages key={paramsOf(asked).toString()} filter={asked} total={count} />
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
          )
        }
      </Loaded>
    </>
  );
};

export default WebsitesPage;
