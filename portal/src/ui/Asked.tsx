import { DoorstepError } from '@doorstep/sdk';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { isProviderFault } from '../api/providerFault.js';
import { Button } from '../theme/Button.js';
import { PageHead } from './PageHead.js';
import { FaultCard, isFeatureOff, isOutOfReach, StateCard, Waiting, wordsOf } from './states.js';

export interface AskedWords {
  /** The page's name: the heading when nothing better can be said. */
  readonly name: string;
  /** "The figures cannot be asked for just now". */
  readonly unreachable: string;
}

interface AskedProps<T> {
  readonly query: UseQueryResult<T>;
  readonly words: AskedWords;
  readonly skeleton?: ReactNode;
  /** Renders the heading too. */
  readonly children: (data: T) => ReactNode;
}

/**
 * A page whose data other services may have to be asked for: pending, error, data. Each of them has a
 * heading; a provider that cannot be asked is told apart from one that has nothing.
 */
export const Asked = <T,>({ query, words, skeleton = <Waiting />, children }: AskedProps<T>): ReactNode => {
  const { t } = useTranslation();
  const { data, error } = query;
  if (data !== undefined && !isOutOfReach(error)) return children(data);
  if (!query.isError) return skeleton;
  const again = <Button onClick={() => void query.refetch()}>{t('common.tryAgain')}</Button>;
  if (isProviderFault(error)) {
    return (
      <>
        <PageHead title={words.unreachable} />
        <StateCard title={t('asked.notNothing')} actions={again}>
          <p>{t('asked.unreachable')}</p>
          {error instanceof DoorstepError && <p className="small">{wordsOf(error)}</p>}
        </StateCard>
      </>
    );
  }
  if (isFeatureOff(error)) {
    return (
      <>
        <PageHead title={t('asked.off', { name: words.name })} />
        <StateCard title={t('asked.offTitle')}>{t('asked.offText')}</StateCard>
      </>
    );
  }
  return (
    <>
      <PageHead title={words.name} />
      <FaultCard error={error} again={() => query.refetch()} />
    </>
  );
};
