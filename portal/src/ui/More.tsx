import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../theme/Button.js';
import { FaultLine } from './FaultLine.js';

interface MoreProps {
  readonly list: UseInfiniteQueryResult<InfiniteData<unknown>>;
  /** What the button says, where it says more than that. */
  readonly children?: ReactNode;
}

/** Reads the next page of a list; nothing when there is none. */
export const More = ({ list, children }: MoreProps): ReactNode => {
  const { t } = useTranslation();
  const { data, error, isError, isFetching, hasNextPage, fetchNextPage, refetch } = list;
  const shown = data?.pages.length ?? 0;
  const [asked, setAsked] = useState(0);
  const isMissing = hasNextPage && asked > shown;
  const isDue = isMissing && !isError && !isFetching;
  // A query has one request at a time. Fetching the next page would cancel a refetch, and the change that
  // caused it would not be shown; a refetch cancels the fetch of the next page in turn. Therefore the number
  // of pages that the reader asked for is kept, and the next one is fetched as soon as nothing else is.
  useEffect(() => {
    if (isDue) void fetchNextPage({ cancelRefetch: false });
  }, [isDue, fetchNextPage]);
  if (!hasNextPage) return null;
  return (
    <div>
      <FaultLine error={error} />
      <Button
        // Not while the list is read again by itself: a button that is disabled between press and release gets no click.
        loading={isMissing && (isFetching || !isError)}
        onClick={() => {
          setAsked(shown + 1);
          // After an error what is shown may be outdated too. The next page follows.
          if (isError) void refetch();
        }}
      >
        {children ?? t('lists.more')}
      </Button>
    </div>
  );
};
