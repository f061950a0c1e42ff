import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Pages } from '../api/pages.js';
import { Button } from '../theme/Button.js';
import { FaultLine } from './FaultLine.js';

/** Reads the next page of a list; nothing when there is none. */
export const More = ({ pages }: { readonly pages: Pages<unknown> }): ReactNode => {
  const { t } = useTranslation();
  if (!pages.hasMore) return null;
  const { last } = pages;
  return (
    <div>
      <FaultLine error={last.error} />
      <Button loading={last.isFetching} onClick={() => (last.isError ? void last.refetch() : pages.more())}>
        {t('lists.more')}
      </Button>
    </div>
  );
};
