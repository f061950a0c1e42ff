import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import { onSessionOver } from '../api/sessionOver.js';

const SessionOverDialog = lazy(() => import('./SessionOverDialog.js'));

/** Asks to sign in again once the session is over. What stands on the page stays until then. */
export const SessionGuard = ({ children }: { readonly children: ReactNode }): ReactNode => {
  const [isOver, setOver] = useState(false);
  useEffect(() => onSessionOver(() => setOver(true)), []);
  return (
    <>
      {children}
      <Suspense>{isOver && <SessionOverDialog onClose={() => setOver(false)} />}</Suspense>
    </>
  );
};
