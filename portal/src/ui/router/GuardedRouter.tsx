import { startTransition, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import {
  NavigationType,
  Router,
  UNSAFE_createBrowserHistory as createBrowserHistory,
  type Location,
  type To,
} from 'react-router';
import { startLoading } from '../../routes.js';
import { hasUnsaved } from '../leaving.js';
import { LeaveDialog } from './LeaveDialog.js';

const history = createBrowserHistory({ window, v5Compat: true });

interface Place {
  readonly action: typeof history.action;
  readonly location: Location;
}

/**
 * React Router's `BrowserRouter`, which also asks before a page is left that holds something unsaved
 * (its own guard wants its data router, which is four times as large).
 */
export const GuardedRouter = ({ basename, children }: { readonly basename: string; readonly children: ReactNode }): ReactNode => {
  const [{ action, location }, setPlace] = useState<Place>({ action: history.action, location: history.location });
  /** What is done once the reader has said that they leave. */
  const [leave, setLeave] = useState<(() => void) | null>(null);
  const shown = useRef(location);
  const isAgreed = useRef(false);

  useLayoutEffect(
    () =>
      history.listen((next) => {
        const isOther = next.location.pathname !== shown.current.pathname;
        const back = next.delta;
        if (next.action === NavigationType.Pop && isOther && hasUnsaved() && !isAgreed.current && back !== null) {
          // The browser has gone already: back to the page that is still shown, and ask.
          history.go(-back);
          setLeave(() => () => history.go(back));
          return;
        }
        isAgreed.current = false;
        // The way back to the page that is shown.
        if (next.location.key === shown.current.key) return;
        shown.current = next.location;
        if (isOther) startLoading(next.location.pathname);
        startTransition(() => setPlace({ action: next.action, location: next.location }));
      }),
    [],
  );

  const navigator = useMemo(() => {
    const guarded =
      (go: (to: To, state?: unknown) => void) =>
      (to: To, state?: unknown): void => {
        const target = typeof to === 'string' ? to.split(/[?#]/)[0] : to.pathname;
        if (hasUnsaved() && target !== shown.current.pathname) setLeave(() => () => go(to, state));
        else go(to, state);
      };
    return {
      ...history,
      push: guarded((to, state) => history.push(to, state)),
      replace: guarded((to, state) => history.replace(to, state)),
    };
  }, []);

  return (
    <Router basename={basename} location={location} navigationType={action} navigator={navigator}>
      {children}
      {leave !== null && (
        <LeaveDialog
          onStay={() => setLeave(null)}
          onLeave={() => {
            isAgreed.current = true;
            setLeave(null);
            leave();
          }}
        />
      )}
    </Router>
  );
};
