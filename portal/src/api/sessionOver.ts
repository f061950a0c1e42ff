import { DoorstepError } from '@doorstep/sdk';
import { SignedOut } from '../session/session.js';

/** A 401 that says what a viewer may not do ends no session. */
const roleRefused = 'editor_required';

/** Whether somebody has to sign in again. */
export const isSessionOver = (error: unknown): boolean =>
  error instanceof SignedOut || (error instanceof DoorstepError && error.status === 401 && error.code !== roleRefused);

const listeners = new Set<() => void>();

/** @returns what ends the subscription */
export const onSessionOver = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const reportSessionOver = (): void => {
  for (const listener of listeners) listener();
};
