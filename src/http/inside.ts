import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http';
import { duplexPair, Readable, type Duplex } from 'node:stream';
import type { Admission } from './senders.js';

/** A request that the service makes of itself while it answers another one. */
export interface InsideCall {
  /** The request that is answered: whose sender this one counts for. */
  readonly answers: IncomingMessage;
  /** Of the request that is answered. */
  readonly admission: Admission | undefined;
  /** Its `Authorization`: the credential is checked again each time. */
  readonly authorization: string | undefined;
  /** Its id: the log and the events name one for all that it did. */
  readonly requestId: string;
  /** Aborted when nobody waits any more for the request that is answered. */
  readonly signal: AbortSignal;
}

/** Requests to the application within the process: by its routes, and without a network. */
export interface Inside {
  /** `undefined` for every request that came over the network, whatever it says of itself. */
  callOf(request: IncomingMessage): InsideCall | undefined;
  /** As the global `fetch`; the host of an address does not count, and bodies are held in memory. */
  fetchFor(call: InsideCall, baseUrl: string): typeof fetch;
}

/**
 * HTTP over a pair of streams in memory: routes see the requests and answers of Node that they see
 * otherwise, streams and cancellation included. What a call stands for is attached to its own end
 * of the pair, which nobody outside of the process can hold.
 */
export const createInside = (listener: RequestListener): Inside => {
  // It never listens: connections are given to it.
  const server = createServer({ requireHostHeader: false }, listener);
  const calls = new WeakMap<Duplex, InsideCall>();

  const connect = (call: InsideCall): Duplex => {
    const [near, far] = duplexPair();
    // One end does not notice by itself that the other one was destroyed.
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
    // The caller has gone, and nobody reads the answer.
    far.on('error', () => undefined);
    calls.set(far, call);
    server.emit('connection', far);
    return near;
  };

  return {
    callOf: ({ socket }) => calls.get(socket),
    fetchFor: (call, baseUrl) => {
      const base = new URL(baseUrl).pathname.replace(/\/$/, '');
      return async (input, init) => {
        const request = new Request(input, init);
        const { host, pathname, search } = new URL(request.url);
        const body = Buffer.from(await request.arrayBuffer());
        const signal = AbortSignal.any([request.signal, call.signal]);
        signal.throwIfAborted();
        const answer = await new Promise<IncomingMessage>((resolve, reject) => {
          const sent = httpRequest(
            {
              createConnection: () => connect(call),
              method: request.method,
              path: pathname.slice(base.length) + search,
              headers: { ...Object.fromEntries(request.headers), host, 'content-length': body.length },
              signal,
            },
            resolve,
          );
          sent.on('error', (error) => {
            // As `fetch` does: callers tell by it that it was they who gave up.
            reject(signal.aborted ? (signal.reason as Error) : new TypeError('fetch failed', { cause: error }));
          });
          sent.end(body);
        });
        return responseOf(answer);
      };
    },
  };
};

/** Statuses without a body (RFC 9110, 6.4.1). */
const bodyless: ReadonlySet<number> = new Set([204, 205, 304]);

const responseOf = (answer: IncomingMessage): Response => {
  const { statusCode: status = 200, headersDistinct } = answer;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) for (const value of values) headers.append(name, value);
  const isEmpty = bodyless.has(status);
  if (isEmpty) answer.resume();
  return new Response(isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>), { status, headers });
};
