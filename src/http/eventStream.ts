import type { Clock } from '../platform/clock.js';
import type { Exchange } from './exchange.js';
import { securityHeaders } from './reply.js';
import type { Answer, ServerSentEvent } from './route.js';
import type { StreamGuard } from './streamGuard.js';

/** A comment is sent this often, so that no proxy closes the connection as idle. */
const heartbeatMs = 15_000;

/** How long a reader waits before it connects again. */
const retryMs = 3_000;

/**
 * Sends server-sent events as the iterable gives them, no faster than the reader takes them. Ends
 * with the iterable, or when `signal` is aborted because the reader has gone or the service stops,
 * and then gives the iterable back.
 *
 * `guard` is asked before each batch that is sent, and ends it when the reader loses access: `end`
 * has to abort `signal`.
 *
 * @throws what the iterable or the guard throws; the connection is then cut, so that the reader
 *   knows of it
 */
export const sendEvents = async (
  { request, response, requestId, headers }: Exchange,
  answer: Answer & { readonly events: NonNullable<Answer['events']> },
  parts: { readonly clock: Clock; readonly signal: AbortSignal; readonly end: () => void; readonly guard: StreamGuard },
): Promise<void> => {
  const { clock, signal, end, guard } = parts;
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
  response.write(`retry: ${String(retryMs)}\n\n`);
  // With an unread body, the end of the connection would not be noticed.
  request.resume();

  const ended: { fault?: { readonly error: unknown }; isLost?: boolean } = {};
  const giveUp = (error: unknown): void => {
    ended.fault ??= { error };
    end();
  };
  const lose = (): void => {
    ended.isLost ||= !signal.aborted;
    end();
  };
  const mayGoOn = async (): Promise<boolean> => {
    if (!(await guard.mayGoOn())) lose();
    return !signal.aborted;
  };
  let stopHeart = (): void => undefined;
  const beat = (): void => {
    stopHeart = clock.schedule(heartbeatMs, () => {
      mayGoOn().then(() => {
        if (signal.aborted) return;
        // A reader who is slow has enough to read.
        if (!response.writableNeedDrain) response.write(': still here\n\n');
        beat();
      }, giveUp);
    });
  };
  beat();
  guard.lost(signal).then(lose, giveUp);
  let stopWaiting = (): void => undefined;
  signal.addEventListener(
    'abort',
    () => {
      stopWaiting();
    },
    { once: true },
  );
  /**
   * Resolves with `undefined` when the signal is aborted first. No race with one promise for all
   * waits: that would keep what each of them led to until the reader leaves.
   */
  const unlessAborted = <Result>(work: Promise<Result>): Promise<Result | undefined> =>
    new Promise((resolve, reject) => {
      stopWaiting = () => {
        resolve(undefined);
      };
      work.then(resolve, reject);
    });
  const events = answer.events[Symbol.asyncIterator]();
  try {
    while (!signal.aborted) {
      const next = await unlessAborted(events.next());
      if (next === undefined || next.done === true || !(await mayGoOn())) break;
      if (!response.write(next.value.map(textOf).join(''))) await unlessAborted(drained(response));
    }
    if (ended.fault !== undefined) throw ended.fault.error;
    // What a slow reader has not taken yet is not sent once it has lost access.
    if (ended.isLost === true && response.writableLength > 0) response.destroy();
    else response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    end();
    stopHeart();
    await events.return?.();
  }
};

const drained = (response: Exchange['response']): Promise<void> =>
  new Promise((resolve) => {
    response.once('drain', resolve);
  });

/** Texts of events that several readers are sent. */
const texts = new WeakMap<ServerSentEvent, string>();

const textOf = (sent: ServerSentEvent): string => {
  const { event, id, data } = sent;
  const text =
    texts.get(sent) ??
    `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
  texts.set(sent, text);
  return text;
};
