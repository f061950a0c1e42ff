import { useMe } from '../features/me/queries.js';
import { viewedAs } from '../session/viewAs.js';

/** Whether the reader may be offered changes: never while an admin looks as somebody else. */
export const useMayWrite = (): boolean => viewedAs === null;

/** Whether the reader may be offered what only admins change. */
export const useIsAdmin = (): boolean => useMe().role === 'admin' && viewedAs === null;
