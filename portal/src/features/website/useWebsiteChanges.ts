import { DoorstepError, type ChangeEvent } from '@doorstep/sdk';
import { useEffect, useEffectEvent } from 'react';
import { doorstep } from '../../api/doorstep.js';

/**
 * Calls `onChange` when something of these kinds has changed on a website, as long as the component
 * stands there. Where the stream is refused or cannot be opened, the page shows what it has asked for.
 */
export const useWebsiteChanges = (websiteId: string, kinds: readonly ChangeEvent['event'][], onChange: () => unknown): void => {
  const changed = useEffectEvent((event: ChangeEvent['event']) => {
    if (event === 'reset' || kinds.includes(event)) onChange();
  });
  useEffect(() => {
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      try {
        for await (const { event } of doorstep.websites.watch(websiteId, { signal: stop.signal })) changed(event);
      } catch (error) {
        if (!(error instanceof DoorstepError)) throw error;
      }
    };
    void follow();
    return () => stop.abort();
  }, [websiteId]);
};
