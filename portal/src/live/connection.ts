import { ConnectionError, DoorstepError, TimeoutError } from '@doorstep/sdk';
import { isProviderFault } from '../api/providerFault.js';

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

/** What an error says of the connection: that there is one where the service answered, if only to refuse. */
const stateBy = (error: unknown): Connection | undefined => {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return 'offline';
  if (!(error instanceof DoorstepError) || error.status === undefined) return undefined;
  return unavailable.includes(error.status) && !isProviderFault(error) ? 'unavailable' : 'fine';
};

/**
 * What a call failed with. That other calls are answered does not end a break: everything would be
 * asked again at once, and so without end where one thing alone cannot be answered.
 */
export const reportFault = (error: unknown): void => {
  const next = stateBy(error);
  if (next !== undefined && next !== 'fine') become(next);
};

/**
 * What an attempt to open a stream came to: it is repeated by itself, so that no call fails.
 * @param status of the answer, if there was one
 */
export const reportStream = (status?: number): void => {
  if (status === undefined) become('offline');
  else if (unavailable.includes(status)) become('unavailable');
};

/** What a question came to that was asked after the connection broke. */
export const reportBack = (error?: unknown): void => become(error === undefined ? 'fine' : (stateBy(error) ?? state));

window.addEventListener('offline', () => become('offline'));
