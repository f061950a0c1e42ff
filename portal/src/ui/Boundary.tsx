import { Component, useEffect, useRef, useSyncExternalStore, type ErrorInfo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { connection, onConnection } from '../live/connection.js';
import { askVersion } from '../live/version.js';
import { buttonLook } from './buttonLook.js';
import { FaultCard, StateCard } from './states.js';
import { DoorstepError } from '@doorstep/sdk';

/** A mistake in the page, or a part of it that did not come. */
const BrokenCard = ({ error }: { readonly error: unknown }): ReactNode => {
  const { t } = useTranslation();
  const state = useSyncExternalStore(onConnection, connection);
  const wasAway = useRef(false);
  useEffect(() => {
    if (state !== 'fine') wasAway.current = true;
    // Code that did not come is asked for again by a new page only.
    else if (wasAway.current) location.reload();
  }, [state]);
  const reload = (): void => location.reload();
  if (error instanceof DoorstepError) return <FaultCard error={error} again={reload} />;
  const isAway = state !== 'fine';
  return (
    <StateCard
      title={t(isAway ? `faults.${state}.title` : 'broken.title')}
      actions={
        <button type="button" className={buttonLook()} onClick={reload}>
          {t(isAway ? 'common.tryAgain' : 'bar.reload')}
        </button>
      }
    >
      {t(isAway ? `faults.${state}.text` : 'broken.text')}
    </StateCard>
  );
};

/** Keeps the rest of the window when a page breaks. A page that comes next is tried afresh (by its key). */
export class Boundary extends Component<{ readonly children: ReactNode }, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override componentDidCatch(_error: unknown, _where: ErrorInfo): void {
    // The likeliest reason: its code is gone, because the service has a newer portal.
    void askVersion();
  }

  override render(): ReactNode {
    return this.state.error === null ? this.props.children : <BrokenCard error={this.state.error} />;
  }
}
