import { base, version } from '../page.js';

/** Asked no more often than this, in ms. */
const pauseMs = 60_000;

let isNewer = false;
let askedAt = Date.now();
const listeners = new Set<() => void>();

/** Whether the service has another portal than this page was loaded from. */
export const isOutdated = (): boolean => isNewer;

export const onOutdated = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const becomeOutdated = (): void => {
  isNewer = true;
  for (const listener of listeners) listener();
};

/** Asks which portal the service has now. Without an answer nothing is known, and the next question may tell. */
export const askVersion = async (): Promise<void> => {
  if (isNewer) return;
  askedAt = Date.now();
  const answer = await fetch(`${base}/app/`).catch(() => null);
  if (answer?.ok !== true) return;
  const [, served] = /data-version="([^"]*)"/.exec(await answer.text()) ?? [];
  if (served !== undefined && served !== version) becomeOutdated();
};

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible' && Date.now() - askedAt > pauseMs) void askVersion();
});

// A part of the page is gone: the service may have another portal now.
window.addEventListener('vite:preloadError', () => void askVersion());
