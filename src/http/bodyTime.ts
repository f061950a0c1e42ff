import type { IncomingMessage } from 'node:http';
import type { Clock } from '../platform/clock.js';
import { hasBody } from './exchange.js';

/** How long the body of an upload may take in all, in milliseconds. */
export const maxUploadMs = 15 * 60_000;

const limits = new WeakMap<IncomingMessage, () => void>();

/** Calls `onTimeout` unless the body is whole within `ms`, or the request is an upload by then. */
export const limitBody = (clock: Clock, request: IncomingMessage, ms: number, onTimeout: () => void): void => {
  if (!hasBody(request) || request.complete) return;
  const cancel = clock.schedule(ms, () => {
    if (!request.complete) onTimeout();
  });
  limits.set(request, cancel);
  request.once('end', cancel);
  request.once('close', cancel);
};

/** Lets the body of a caller who may send a large one take up to `maxUploadMs`. */
export const allowUpload = (request: IncomingMessage): void => {
  limits.get(request)?.();
};
