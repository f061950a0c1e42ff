import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { onSessionOver } from '../api/sessionOver.js';
import { meKeys } from '../features/me/keys.js';
import { SessionOverDialog } from './SessionOverDialog.js';

/** Asks to sign in again once the session is over. What stands on the page stays, and goes on after it. */
export const SessionGuard = ({ children }: { readonly children: ReactNode }): ReactNode => {
  const client = useQueryClient();
  const [isOver, setOver] = useState(false);
  useEffect(
    () =>
      onSessionOver(() => {
        // Where nothing is shown yet, the frame itself says it.
        if (client.getQueryData(meKeys.me) !== undefined) setOver(true);
      }),
    [client],
  );
  return (
    <>
      {children}
      {isOver && <SessionOverDialog onClose={() => setOver(false)} />}
    </>
  );
};
