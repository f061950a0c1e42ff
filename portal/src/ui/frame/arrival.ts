import { useEffect, useRef, type RefObject } from 'react';
import { NavigationType, useLocation, useNavigationType } from 'react-router';

const key = 'doorstep.scroll';

const kept = sessionStorage.getItem(key);

/** How far down each entry of the history was read, by its key; over a reload too. */
const positions = new Map<string, number>(kept === null ? [] : (JSON.parse(kept) as [string, number][]));

/** Of the oldest nobody comes back to. */
const maxPositions = 50;

window.addEventListener('pagehide', () => {
  sessionStorage.setItem(key, JSON.stringify([...positions].slice(-maxPositions)));
});

/** Calls back once, as soon as `find` finds something within the element. */
const whenFound = <T>(within: HTMLElement, find: () => T | null, found: (it: T) => void): (() => void) => {
  const observer = new MutationObserver(look);
  function look(): void {
    const it = find();
    if (it === null) return;
    observer.disconnect();
    found(it);
  }
  observer.observe(within, { childList: true, subtree: true });
  look();
  return () => observer.disconnect();
};

/**
 * What a browser does at a new page: the focus goes to its heading, and the window to its top, or to
 * where it was when one comes back.
 */
export const useArrival = (main: RefObject<HTMLElement | null>): void => {
  const { key: entry, pathname } = useLocation();
  const how = useNavigationType();
  const last = useRef<string>(null);

  useEffect(() => {
    history.scrollRestoration = 'manual';
    const note = (): void => {
      positions.delete(entry);
      positions.set(entry, window.scrollY);
    };
    const target = how === NavigationType.Pop ? (positions.get(entry) ?? 0) : 0;
    const isNew = last.current !== pathname;
    const room = (): true | null => (document.documentElement.scrollHeight - window.innerHeight >= target ? true : null);
    const stop =
      isNew && main.current !== null
        ? whenFound(main.current, room, () => window.scrollTo({ top: target, behavior: 'instant' }))
        : undefined;
    window.addEventListener('scroll', note, { passive: true });
    // Who scrolls before the page is long enough wants to be elsewhere.
    if (stop !== undefined) window.addEventListener('wheel', stop, { passive: true, once: true });
    return () => {
      stop?.();
      if (stop !== undefined) window.removeEventListener('wheel', stop);
      window.removeEventListener('scroll', note);
    };
  }, [entry, pathname, how, main]);

  useEffect(() => {
    const isFirst = last.current === null;
    if (last.current === pathname) return undefined;
    last.current = pathname;
    const { current } = main;
    // The browser itself has arrived at the first page.
    if (isFirst || current === null) return undefined;
    const before = document.activeElement;
    return whenFound(
      current,
      () => current.querySelector('h1'),
      (heading) => {
        // Who has moved on since is not called back.
        if (document.activeElement !== before && document.activeElement !== document.body) return;
        heading.tabIndex = -1;
        heading.focus({ preventScroll: true });
      },
    );
  }, [pathname, main]);
};
