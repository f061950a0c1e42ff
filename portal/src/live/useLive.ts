import { DoorstepError, type AccountRole, type ChangeEvent } from '@doorstep/sdk';
import { hashKey, useQueryClient, type QueryClient, type QueryKey } from '@tanstack/react-query';
import { useEffect } from 'react';
import { doorstep } from '../api/doorstep.js';
import { isSessionOver, reportSessionOver } from '../api/sessionOver.js';
import { apiKeyKeys } from '../features/apiKeys/keys.js';
import { auditKeys } from '../features/audit/keys.js';
import { clientKeys } from '../features/clients/keys.js';
import { deliveryKeys } from '../features/delivery/keys.js';
import { homeKeys } from '../features/home/keys.js';
import { meKeys } from '../features/me/keys.js';
import { websiteKeys } from '../features/website/keys.js';
import { viewedAs } from '../session/viewAs.js';
import { isOutOfReach } from '../ui/states.js';
import { connection, onConnection, reportFault } from './connection.js';

/** Changes that come together are one reason to ask again, in ms. */
const gatherMs = 100;

/** How long an answer may keep the next question waiting, in ms. */
const maxRefreshMs = 2_000;

/** Of the agency, not of a website. */
const agencyKeys: Partial<Record<ChangeEvent['event'], readonly QueryKey[]>> = {
  website: [meKeys.me],
  access: [meKeys.me, clientKeys.all],
  transfer: [meKeys.me, clientKeys.all],
  client: [meKeys.me, clientKeys.all],
  apiKey: [apiKeyKeys.all],
};

const everything: readonly QueryKey[] = [[]];

/** Of all websites. */
const listKeys: readonly QueryKey[] = [websiteKeys.lists, homeKeys.own, auditKeys.all];

/** What has to be asked again after a change. */
const keysAfter = ({ event, data: { websiteId } }: ChangeEvent): readonly QueryKey[] => [
  ...(agencyKeys[event] ?? []),
  ...(websiteId === undefined ? [] : [event === 'reader' ? deliveryKeys.readers(websiteId) : websiteKeys.website(websiteId)]),
  // That somebody has read a page changes no list.
  ...(event === 'reader' ? [] : listKeys),
];

/** What nobody reports changes of once the stream has ended. */
const followedKeys = (websiteId: string | undefined): readonly QueryKey[] =>
  websiteId === undefined ? [...listKeys, clientKeys.all, apiKeyKeys.all] : [websiteKeys.website(websiteId)];

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Until no change of the reader's own is on its way. */
const untilSettled = (client: QueryClient): Promise<void> =>
  new Promise((resolve) => {
    const check = (): void => {
      if (client.isMutating() > 0) return;
      stop();
      resolve();
    };
    const stop = client.getMutationCache().subscribe(check);
    check();
  });

/**
 * Asks again what changes make old: each once, and not before what was asked last is answered. To ask
 * again cancels the request, so that where changes come faster than answers nothing would be shown.
 */
const createRefresh = (client: QueryClient): ((keys: readonly QueryKey[]) => void) => {
  const waiting = new Map<string, QueryKey>();
  let isUnderWay = false;
  const refresh = async (): Promise<void> => {
    isUnderWay = true;
    while (waiting.size > 0) {
      await wait(gatherMs);
      // The answer to what is asked meanwhile would be overtaken.
      if (client.isMutating() > 0) {
        await untilSettled(client);
        continue;
      }
      const keys = [...waiting.values()];
      waiting.clear();
      const answered = Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })));
      await Promise.race([answered, wait(maxRefreshMs)]);
    }
    isUnderWay = false;
  };
  return (keys) => {
    for (const key of keys) waiting.set(hashKey(key), key);
    if (!isUnderWay) void refresh();
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
    from.id = change.id;
    if (change.event === 'reset') refresh(everything);
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
        if (isSessionOver(error)) reportSessionOver();
        else if (!(error instanceof DoorstepError)) throw error;
        else {
          current = undefined;
          reportFault(error);
          // Access was taken away: the page's own questions say so.
          if (isOutOfReach(error)) refresh(everything);
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
      // What the last changes of a website make old may be on the page that the reader goes to.
      if (websiteId !== undefined) for (const queryKey of listKeys) void client.invalidateQueries({ queryKey });
    };
  }, [client, isFollowing, websiteId]);
};
