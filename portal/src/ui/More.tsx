import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../theme/Button.js';
import { FaultLine } from './FaultLine.js';

/** Reads the next page of a list; nothing when there is none. */
export const More = ({ list }: { readonly list: UseInfiniteQueryResult<InfiniteData<unknown>> }): ReactNode => {
  const { t } = useTranslation();
  const { data, error, isError, isFetching, hasNextPage, fetchNextPage, refetch } = list;
  const shown = data?.pages.length ?? 0;
  const [asked, setAsked] = useState(0);
  const isMissing = hasNextPage && asked > shown;
  const isDue = isMissing && !isError && !isFetching;
  // A list that is being read again has one request at a time. To ask for the next page meanwhile would
  // end that reading, and what has changed would not be seen; a change that arrives later ends the request
  // for the next page in turn. Therefore what the reader asked for is kept, and is due when nothing is read.
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
        {t('lists.more')}
      </Button>
    </div>
  );
};
