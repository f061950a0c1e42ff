import type { IncomingMessage } from 'node:http';
import type { Clock } from '../platform/clock.js';
import { hasBody } from './exchange.js';

/**
 * How long the body of somebody may take of whom nothing is known, and what is left of a body after
 * the answer, in milliseconds.
 */
export const strangersBodyMs = 5_000;
/** How long the body of an upload may take in all, in milliseconds. */
export const maxUploadMs = 15 * 60_000;

const limits = new WeakMap<IncomingMessage, () => void>();

/** Calls `task` unless the body is whole within `ms`. @returns what cancels that; undefined: it is whole already */
export const unlessWhole = (clock: Clock, request: IncomingMessage, ms: number, task: () => void): (() => void) | undefined => {
  if (!hasBody(request) || request.complete) return undefined;
  const cancel = clock.schedule(ms, () => {
    if (!request.complete) task();
  });
  request.once('end', cancel);
  request.once('close', cancel);
  return cancel;
};

/** Calls `onTimeout` unless the body is whole within `ms`, or the request is an upload by then. */
export const limitBody = (clock: Clock, request: IncomingMessage, ms: number, onTimeout: () => void): void => {
  const cancel = unlessWhole(clock, request, ms, onTimeout);
  if (cancel !== undefined) limits.set(request, cancel);
};

/** Lets the body of a caller who may send a large one take up to `maxUploadMs`. */
export const allowUpload = (request: IncomingMessage): void => {
  limits.get(request)?.();
};
