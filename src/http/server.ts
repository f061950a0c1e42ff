import { createServer as createHttpServer, IncomingMessage, ServerResponse, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import type { Clock } from '../platform/clock.js';
import type { HttpApp } from './app.js';
import { limitBody, maxUploadMs } from './bodyTime.js';
import { answerFor, httpErrors, type ErrorAnswer } from './errors.js';
import { replyToError, securityHeaders } from './reply.js';
import { toOriginForm } from './target.js';

export interface HttpServer {
  /** Resolves with the real address once requests are taken. @throws when the port is taken. */
  listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number; readonly url: string }>;
  /**
   * Takes no new requests, lets those under way finish within `graceMs`, ends server-sent events,
   * closes every connection.
   */
  stop(graceMs?: number): Promise<void>;
}

/** In milliseconds. */
export interface Timeouts {
  readonly headersMs: number;
  /** Of a body, unless it is an upload. */
  readonly requestMs: number;
  /** How often connections are checked. */
  readonly checkMs: number;
  /**
   * How long a connection may stand still while an answer is sent, so that a caller who does not
   * read frees it.
   */
  readonly standstillMs: number;
}

const defaultTimeouts: Timeouts = { headersMs: 10_000, requestMs: 30_000, checkMs: 2_000, standstillMs: 120_000 };
const keepAliveMs = 65_000;
const maxHeaderBytes = 16_384;
/**
 * Connections that may wait to be taken (the system may allow fewer). With Node's 511, one sender
 * that opens 2,000 at once makes everybody else's wait for a second.
 */
const backlog = 4_096;
const defaultGraceMs = 10_000;
/** A connection that was opened just before the stop may still send a request for this long. */
const firstRequestMs = 250;

/** The application behind a listening socket. */
export const createServer = (app: HttpApp, clock: Clock, timeouts: Timeouts = defaultTimeouts): HttpServer => {
  const server = createHttpServer(
    {
      ...classesOf(app.express),
      headersTimeout: timeouts.headersMs,
      // Bodies that are no uploads have less time: see `limitBody` below.
      requestTimeout: maxUploadMs,
      connectionsCheckingInterval: timeouts.checkMs,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: maxHeaderBytes,
      noDelay: true,
      // Refused by the application, in the form of every refusal.
      requireHostHeader: false,
    },
    app.express,
  );
  server.timeout = timeouts.standstillMs;
  /** Every connection, with the answer to its last request. */
  const connections = new Map<Duplex, ServerResponse | undefined>();
  let stopping = false;
  server.on('connection', (socket) => {
    app.connected(socket);
    connections.set(socket, undefined);
    socket.once('close', () => connections.delete(socket));
  });
  server.prependListener('request', (request, response) => {
    toOriginForm(request);
    connections.set(request.socket, response);
    if (stopping) response.shouldKeepAlive = false;
    limitBody(clock, request, timeouts.requestMs, () => {
      server.emit(
        'clientError',
        Object.assign(new Error('the body took too long'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
        request.socket,
      );
    });
  });
  // A request may be answered without regard to what else it expects (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('clientError', (error: Error & { readonly code?: string }, socket) => {
    const answer = connections.get(socket);
    const underWay = answer?.writableFinished === false ? answer : undefined;
    // A request that was answered before it was complete gets no second answer.
    const isAnswered = answer?.headersSent === true && !(answer.writableFinished && answer.req.complete);
    if (!socket.writable || error.code === 'ECONNRESET' || isAnswered) socket.destroy();
    // The fault came after a complete request, which is answered as the last one.
    else if (underWay?.req.complete === true) underWay.shouldKeepAlive = false;
    // The last one was answered: the connection is being closed.
    else if (error.code === 'HPE_CLOSED_CONNECTION') return;
    else {
      const refusal = refusalOf(error.code);
      refuse(refusal, socket, app.refused(refusal, underWay));
    }
  });

  /** Node closes neither connections without a request nor those that are kept alive. */
  const closeWhenAnswered = (): void => {
    for (const [socket, answer] of connections) {
      if (answer === undefined) continue;
      if (answer.writableFinished) socket.destroy();
      else if (answer.headersSent) answer.once('finish', () => socket.end());
      else answer.shouldKeepAlive = false;
    }
    clock.schedule(firstRequestMs, () => {
      for (const [socket, answer] of connections) if (answer === undefined) socket.destroy();
    });
  };

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ port, host, backlog }, () => {
          server.off('error', reject);
          resolve(addressOf(server));
        });
      }),
    stop: (graceMs = defaultGraceMs) =>
      new Promise((resolve, reject) => {
        const cancel = clock.schedule(graceMs, () => {
          server.closeAllConnections();
        });
        server.close((error: NodeJS.ErrnoException | undefined) => {
          cancel();
          if (error === undefined || error.code === 'ERR_SERVER_NOT_RUNNING') resolve();
          else reject(error);
        });
        stopping = true;
        app.endStreams();
        closeWhenAnswered();
      }),
  };
};

/**
 * Requests and answers with express's prototypes from the beginning. Otherwise express changes the
 * prototype of each one, and everything they refer to survives every minor garbage collection: the
 * heap grew fourfold, and collecting took a fifth of the time.
 */
const classesOf = (app: Express): { IncomingMessage: typeof IncomingMessage; ServerResponse: typeof ServerResponse } => {
  class AppRequest extends IncomingMessage {}
  class AppResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}
  const prototypes = app as unknown as { request: object; response: object };
  Object.setPrototypeOf(AppRequest.prototype, prototypes.request);
  Object.setPrototypeOf(AppResponse.prototype, prototypes.response);
  prototypes.request = AppRequest.prototype;
  prototypes.response = AppResponse.prototype;
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
};

const addressOf = (server: Server): { host: string; port: number; url: string } => {
  const { address, family, port } = server.address() as AddressInfo;
  return { host: address, port, url: `http://${family === 'IPv6' ? `[${address}]` : address}:${String(port)}` };
};

/** Refuses what is not HTTP, too long or too slow, in the form of every error. */
const refuse = (refusal: ErrorAnswer, socket: Duplex, requestId: string): void => {
  const { headers, body } = replyToError(refusal);
  const length = String(Buffer.byteLength(body ?? ''));
  const all = { ...securityHeaders, ...headers, 'x-request-id': requestId, 'content-length': length, connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${String(refusal.status)} ${refusal.error}\r\n${lines.join('')}\r\n`);
  socket.end(body);
};

const refusalOf = (code: string | undefined): ErrorAnswer => {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return httpErrors.headersTooLarge().answer;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return httpErrors.requestTimeout().answer;
    default:
      return answerFor(httpErrors.malformed(), '');
  }
};
