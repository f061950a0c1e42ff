import { DoorstepError, type AccountRole, type ChangeEvent } from '@doorstep/sdk';
import { useQueryClient, type QueryClient, type QueryKey } from '@tanstack/react-query';
import { useEffect } from 'react';
import { doorstep } from '../api/doorstep.js';
import { isSessionOver, reportSessionOver } from '../api/sessionOver.js';
import { homeKeys } from '../features/home/keys.js';
import { meKeys } from '../features/me/keys.js';
import { websiteKeys } from '../features/website/keys.js';
import { viewedAs } from '../session/viewAs.js';
import { connection, onConnection, reportCall } from './connection.js';

/** Changes that come together are one reason to ask again, in ms. */
const gatherMs = 100;

/** Of the agency, not of a website. */
const agencyKeys: Partial<Record<ChangeEvent['event'], readonly QueryKey[]>> = {
  website: [meKeys.me],
  access: [meKeys.me, ['clients']],
  transfer: [meKeys.me, ['clients']],
  client: [meKeys.me, ['clients']],
  apiKey: [['apiKeys']],
};

/** Of all websites. */
const listKeys: readonly QueryKey[] = [[...websiteKeys.all, 'list'], homeKeys.own, ['audit']];

/** What has to be asked again after a change. */
const keysAfter = ({ event, data: { websiteId } }: ChangeEvent): readonly QueryKey[] => [
  ...(agencyKeys[event] ?? []),
  ...(websiteId === undefined ? [] : [websiteKeys.website(websiteId)]),
  // That somebody has read a page changes no list.
  ...(event === 'reader' ? [] : listKeys),
];

/** What nobody reports changes of once the stream has ended. */
const followedKeys = (websiteId: string | undefined): readonly QueryKey[] =>
  websiteId === undefined ? [...listKeys, ['clients'], ['apiKeys']] : [websiteKeys.website(websiteId)];

/** Asks again once no change of the reader's own is on its way: its answer would be overtaken. */
const createRefresh = (client: QueryClient): ((keys: readonly QueryKey[] | 'all') => void) => {
  let waiting: readonly QueryKey[] | 'all' = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    timer = undefined;
    if (client.isMutating() > 0) {
      const stop = client.getMutationCache().subscribe(() => {
        if (client.isMutating() > 0) return;
        stop();
        timer ??= setTimeout(flush, gatherMs);
      });
      return;
    }
    const keys = waiting === 'all' ? [[]] : waiting;
    waiting = [];
    for (const queryKey of keys) void client.invalidateQueries({ queryKey });
  };
  return (keys) => {
    waiting = keys === 'all' || waiting === 'all' ? 'all' : [...waiting, ...keys];
    timer ??= setTimeout(flush, gatherMs);
  };
};

/** Follows until the signal ends it, the service refuses, or the connection breaks. */
const follow = async (
  websiteId: string | undefined,
  refresh: ReturnType<typeof createRefresh>,
  from: { id: string | undefined },
  signal: AbortSignal,
): Promise<void> => {
  const options = { signal, lastEventId: from.id };
  const changes = websiteId === undefined ? doorstep.changes.watch(options) : doorstep.websites.watch(websiteId, options);
  for await (const change of changes) {
    reportCall();
    from.id = change.id;
    if (change.event === 'reset') refresh('all');
    else if (change.event !== 'ready') refresh(keysAfter(change));
  }
};

/**
 * Keeps what is on the page as it is at the service: follows the changes of one website, or as an admin
 * of all. One stream a tab, and none while the tab is hidden (browsers open six connections to a host).
 */
export const useLive = (role: AccountRole, websiteId: string | undefined): void => {
  const client = useQueryClient();
  // An admin who looks as somebody else asks for nothing that they did not ask for themselves.
  const isFollowing = viewedAs === null && (role === 'admin' || websiteId !== undefined);
  useEffect(() => {
    if (!isFollowing) return undefined;
    const refresh = createRefresh(client);
    const from: { id: string | undefined } = { id: undefined };
    let current: AbortController | undefined;
    const stop = (): void => {
      current?.abort();
      current = undefined;
    };
    const start = (): void => {
      if (current !== undefined || document.visibilityState === 'hidden' || connection() !== 'fine') return;
      const own = (current = new AbortController());
      follow(websiteId, refresh, from, own.signal).catch((error: unknown) => {
        if (own.signal.aborted) return;
        // After a refusal it stays so: the page's own questions tell why.
        if (isSessionOver(error)) reportSessionOver();
        else if (!(error instanceof DoorstepError)) throw error;
        else {
          current = undefined;
          reportCall(error);
        }
      });
    };
    const turn = (): void => (document.visibilityState === 'hidden' ? stop() : start());
    start();
    document.addEventListener('visibilitychange', turn);
    const forget = onConnection(start);
    return () => {
      document.removeEventListener('visibilitychange', turn);
      forget();
      stop();
      // Asked again when the reader comes back to it, however soon.
      for (const queryKey of followedKeys(websiteId)) void client.invalidateQueries({ queryKey, refetchType: 'none' });
    };
  }, [client, isFollowing, websiteId]);
};
