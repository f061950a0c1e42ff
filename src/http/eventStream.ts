import type { Clock } from '../platform/clock.js';
import type { Exchange } from './exchange.js';
import { securityHeaders } from './reply.js';
import type { Answer } from './route.js';

/** A comment is sent this often, so that no proxy closes the connection as idle. */
const heartbeatMs = 15_000;

type ServerSentEvents = NonNullable<Answer['events']>;

/**
 * Sends server-sent events as the iterable gives them, no faster than the reader takes them. Ends
 * with the iterable, or when `signal` is aborted because the reader has gone or the service stops,
 * and then gives the iterable back.
 *
 * @throws what the iterable throws; the connection is then cut, so that the reader knows of it
 */
export const sendEvents = async (
  { request, response, requestId, headers }: Exchange,
  answer: Answer & { readonly events: ServerSentEvents },
  parts: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> => {
  const { clock, signal } = parts;
  response.writeHead(answer.status ?? 200, {
    ...securityHeaders,
    ...headers,
    ...answer.headers,
    'content-type': 'text/event-stream; charset=utf-8',
    // Nobody between may keep, compress or hold back what is sent.
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'x-request-id': requestId,
  });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  response.flushHeaders();
  // With an unread body, the end of the connection would not be noticed.
  request.resume();

  let stopHeart = (): void => undefined;
  const beat = (): void => {
    stopHeart = clock.schedule(heartbeatMs, () => {
      response.write(': still here\n\n');
      beat();
    });
  };
  beat();
  const aborted = onceAborted(signal);
  const events = answer.events[Symbol.asyncIterator]();
  try {
    while (!signal.aborted) {
      const next = await Promise.race([events.next(), aborted]);
      if (next === undefined || next.done === true) break;
      if (!response.write(textOf(next.value))) await Promise.race([drained(response), aborted]);
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    stopHeart();
    if (signal.aborted) await events.return?.();
  }
};

const onceAborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    const finish = (): void => {
      resolve(undefined);
    };
    if (signal.aborted) finish();
    else signal.addEventListener('abort', finish, { once: true });
  });

const drained = (response: Exchange['response']): Promise<void> =>
  new Promise((resolve) => {
    response.once('drain', resolve);
  });

const textOf = ({ event, id, data }: { readonly event?: string; readonly id?: string; readonly data: unknown }): string =>
  `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
