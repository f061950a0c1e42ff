import { ConnectionError, DoorstepError, TimeoutError } from '@doorstep/sdk';

/** Whether the service answers: `unavailable` when it says that it cannot just now. */
export type Connection = 'fine' | 'offline' | 'unavailable';

let state: Connection = 'fine';
const listeners = new Set<() => void>();

export const connection = (): Connection => state;

export const onConnection = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const become = (next: Connection): void => {
  if (next === state) return;
  state = next;
  for (const listener of listeners) listener();
};

/** What a service answers that cannot just now. */
const unavailable: readonly number[] = [502, 503, 504];

/** What a call came to: an error tells whether there is a connection, and so does an answer. */
export const reportCall = (error?: unknown): void => {
  if (error instanceof ConnectionError || error instanceof TimeoutError) become('offline');
  else if (error instanceof DoorstepError && unavailable.includes(error.status ?? 0)) become('unavailable');
  // An answer that was on its way when the connection broke says nothing of now.
  else if (navigator.onLine && (error === undefined || (error instanceof DoorstepError && error.status !== undefined)))
    become('fine');
};

/**
 * What an attempt to open a stream came to: it is repeated by itself, so that no call fails.
 * @param status of the answer, if there was one
 */
export const reportStream = (status?: number): void => {
  if (status === undefined) become('offline');
  else if (unavailable.includes(status)) become('unavailable');
};

/** The service has answered a question that was asked after the connection broke. */
export const reportBack = (): void => become('fine');

window.addEventListener('offline', () => become('offline'));
