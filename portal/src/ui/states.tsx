import { ConnectionError, DoorstepError, TimeoutError } from '@doorstep/sdk';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { isProviderFault } from '../api/providerFault.js';
import { inReadersLanguage } from '../i18n/serviceWords.js';
import { buttonLook } from './buttonLook.js';
import { hasUnsaved } from './leaving.js';
import classes from './states.module.css';

/** What stands there until something comes; seen after 150 ms. */
export const Waiting = (): ReactNode => {
  const { t } = useTranslation();
  return (
    <p className={classes['waiting']} role="status" data-pending>
      {t('common.waiting')}
    </p>
  );
};

interface StateProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** Buttons and links. */
  readonly actions?: ReactNode;
}

/** A card that stands where there is nothing to show: what is so, why, and what to do next. */
export const StateCard = ({ title, children, actions }: StateProps): ReactNode => {
  // Where the card is all that the page has, its title is the page's.
  const [Heading, setHeading] = useState<'h1' | 'h2'>('h2');
  const settle = (card: HTMLElement | null): void => {
    if (card !== null && document.querySelector('h1') === null) setHeading('h1');
  };
  return (
    <section ref={settle} className={`card ${classes['state'] ?? ''}`}>
      <Heading>{title}</Heading>
      {children !== undefined && <div className="muted">{children}</div>}
      {actions !== undefined && <div className={classes['actions']}>{actions}</div>}
    </section>
  );
};

export type Fault = 'offline' | 'unavailable' | 'refused' | 'missing' | 'failed';

/** Told by status, never by words. */
export const faultOf = (error: unknown): Fault => {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return 'offline';
  if (!(error instanceof DoorstepError) || error.status === undefined) return 'failed';
  if (error.status === 403) return 'refused';
  if (error.status === 404) return 'missing';
  return [429, 502, 503, 504].includes(error.status) ? 'unavailable' : 'failed';
};

/** A website may do without some features; what was made with one of them is kept. */
export const isFeatureOff = (error: unknown): boolean => error instanceof DoorstepError && error.code === 'feature_off';

/**
 * Whether something may not be seen, or is not there: what was shown of it does not hold any more. Where
 * a feature was switched off it does, for as long as something is typed there that is not saved.
 */
export const isOutOfReach = (error: unknown): boolean =>
  ['refused', 'missing'].includes(faultOf(error)) && !(isFeatureOff(error) && hasUnsaved());

/** What the service says, in the reader's language. */
export const wordsOf = ({ message, code }: DoorstepError): string => inReadersLanguage(message, code);

/** What the service says, where it refused, or another service that it asked cannot answer. */
export const refusalIn = (error: unknown): string | undefined =>
  error instanceof DoorstepError && ((error.status ?? 500) < 500 || isProviderFault(error)) ? wordsOf(error) : undefined;

/** Why something cannot be shown, and what the service says where it refused. */
export const FaultCard = ({
  error,
  again,
}: {
  readonly error: unknown;
  readonly again?: (() => unknown) | undefined;
}): ReactNode => {
  const { t } = useTranslation();
  const fault = faultOf(error);
  const refusal = refusalIn(error);
  const requestId = error instanceof DoorstepError ? error.requestId : undefined;
  // To ask for the same again leads to the same; not so once one has signed in again.
  const isFinal = fault === 'refused' || fault === 'missing' || (error instanceof DoorstepError && error.status === 400);
  return (
    <StateCard
      title={t(`faults.${fault}.title`)}
      actions={
        again !== undefined && !isFinal ? (
          <button type="button" className={buttonLook()} onClick={() => void again()}>
            {t('common.tryAgain')}
          </button>
        ) : undefined
      }
    >
      <p>{(fault === 'failed' || isProviderFault(error) ? refusal : undefined) ?? t(`faults.${fault}.text`)}</p>
      {fault === 'refused' && <p>{refusal}</p>}
      {fault === 'failed' && requestId !== undefined && <p className="small">{t('faults.requestId', { requestId })}</p>}
    </StateCard>
  );
};

/** Pending, error, data, in that order. A refetch keeps the old data, unless the reader may no longer have it. */
export const Loaded = <T,>({
  query,
  skeleton = <Waiting />,
  children,
}: {
  readonly query: UseQueryResult<T>;
  /** Of the final shape. */
  readonly skeleton?: ReactNode;
  readonly children: (data: T) => ReactNode;
}): ReactNode => {
  if (query.data !== undefined && !isOutOfReach(query.error)) return children(query.data);
  if (query.isError) return <FaultCard error={query.error} again={() => query.refetch()} />;
  return skeleton;
};
