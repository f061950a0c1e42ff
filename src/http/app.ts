import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Engine } from '../engine.js';
import type { Reader } from '../projections/reader.js';
import type { RecordStore } from '../projections/store/readModelStore.js';
import type { IdentityProvider } from '../integrations/identity/port.js';
import { createAccessLog, type Answered } from './accessLog.js';
import { createAuthenticate } from './auth/authenticate.js';
import { createAuthorise } from './auth/authorise.js';
import type { KeyUse } from './auth/keyUse.js';
import { SenderGone } from './body.js';
import { corsHeaders, preflightHeaders } from './cors.js';
import { answerFor, httpErrors } from './errors.js';
import { createRequestIds, type Exchange, type Locals } from './exchange.js';
import { createIdempotency } from './idempotency.js';
import { createLoad } from './load.js';
import { replyToError, send } from './reply.js';
import type { Route } from './route.js';
import { createServe, type Serve, type ServeParts } from './serve.js';

export interface HttpAppParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly records: RecordStore;
  readonly routes: readonly Route[];
  /** `null`: nobody can sign in to the portal, only tokens work. */
  readonly identityProvider: IdentityProvider | null;
  readonly keyUse: KeyUse;
  /**
   * Public base address without a trailing slash; asked for at each use, since a free port is known
   * only once it is listened on.
   */
  readonly baseUrl: () => string;
  /** Origins that browsers may call from; empty: CORS is off. */
  readonly corsOrigins: readonly string[];
  /**
   * Handlers that are no routes of the API, by the beginning of their paths (`/sites`: what the
   * embedded hosting serves).
   */
  readonly mounts?: Readonly<Record<string, RequestHandler>>;
  /** Told of every answer, when it is sent or given up. */
  readonly observe?: (answered: Answered) => void;
  /** Beyond these, requests are turned away with 503. */
  readonly limits?: { readonly maxUnderWay: number; readonly maxLagMs: number };
}

export interface HttpApp {
  readonly express: Express;
  /** Ends answers that would go on and on (server-sent events), because the service stops. */
  endStreams(): void;
}

type Handler = RequestHandler<Record<string, string>, unknown, unknown, unknown, Locals>;

const defaultLimits = { maxUnderWay: 2_000, maxLagMs: 5_000 };

/**
 * The API as an express application: one set of routes, in two entry modes (specification,
 * "Authentication").
 */
export const createApp = (parts: HttpAppParts): HttpApp => {
  const { engine, corsOrigins } = parts;
  const { clock, logger } = engine;
  const requestIdOf = createRequestIds(engine.random);
  const accessLog = createAccessLog(engine);
  const load = createLoad(clock, parts.limits ?? defaultLimits);
  const streams = new Set<() => void>();
  const vitalPaths = new Set(parts.routes.filter(({ vital }) => vital === true).map(({ path }) => path));

  const fail = (exchange: Exchange, error: unknown): void => {
    // Nobody is left to be answered.
    if (error instanceof SenderGone) return;
    const { requestId } = exchange;
    const answer = answerFor(error, requestId);
    exchange.errorCode = answer.code;
    if (answer.status === 500) logger.error({ err: error, requestId }, 'a request failed');
    else if (answer.status > 500) logger.warn({ err: error, requestId }, 'a request could not be answered');
    send(exchange, replyToError(answer));
  };

  const enter: Handler = (request, response, next) => {
    const isToken = request.url.startsWith('/v1/');
    const exchange: Exchange = {
      request,
      response,
      requestId: requestIdOf(request.headers['x-request-id']),
      mode: isToken ? 'token' : 'portal',
      headers: corsHeaders(corsOrigins, request.headers.origin),
      startedAt: clock.now(),
    };
    response.locals.exchange = exchange;
    load.started();
    response.once('close', () => {
      load.ended();
      const answered = accessLog(exchange);
      parts.observe?.(answered);
    });
    // The router strips the prefix before it matches (specification, "Endpoints"); `originalUrl`
    // keeps it.
    if (isToken) request.url = request.url.slice('/v1'.length);
    // RFC 9112, 3.2.
    if (request.headers.host === undefined && request.httpVersion === '1.1') throw httpErrors.malformed();
    if (load.isTooHigh() && !vitalPaths.has(request.path)) throw httpErrors.busy();
    next();
  };

  const answerOptions = (exchange: Exchange, allow: string): void => {
    const isAllowed = exchange.headers['access-control-allow-origin'] !== undefined;
    send(exchange, { status: 204, headers: { allow, ...(isAllowed && preflightHeaders(allow)) } });
  };

  const dispatch = (served: ReadonlyMap<string, { readonly route: Route; readonly serve: Serve }>): Handler => {
    const allow = [...served.keys(), ...(served.has('GET') ? ['HEAD'] : []), 'OPTIONS'].sort().join(', ');
    return (request, response) => {
      const { exchange } = response.locals;
      if (request.method === 'OPTIONS') {
        answerOptions(exchange, allow);
        return;
      }
      const found = served.get(request.method === 'HEAD' ? 'GET' : request.method);
      if (found === undefined) throw httpErrors.methodNotAllowed(allow);
      exchange.route = found.route;
      found.serve(exchange, request.params).catch((error: unknown) => {
        fail(exchange, error);
      });
    };
  };

  const nothingThere: Handler = () => {
    throw httpErrors.notFound();
  };

  const onError: ErrorRequestHandler<Record<string, string>, unknown, unknown, unknown, Locals> = (
    error,
    _request,
    response,
    _next,
  ) => {
    fail(response.locals.exchange, error instanceof URIError ? notDecodable() : error);
  };

  const serveParts: ServeParts = {
    engine,
    authenticate: createAuthenticate(parts),
    authorise: createAuthorise(parts.reader),
    idempotency: createIdempotency(engine, parts.records),
    baseUrl: parts.baseUrl,
    onStream: (end) => {
      streams.add(end);
      return () => streams.delete(end);
    },
  };
  const app = express();
  app.enable('case sensitive routing').disable('x-powered-by').disable('etag').disable('query parser');
  app.use(enter);
  for (const [path, handler] of Object.entries(parts.mounts ?? {})) app.use(path, handler);
  for (const [path, routes] of byPath(parts.routes)) {
    const served = routes.map((route) => [route.method.toUpperCase(), { route, serve: createServe(route, serveParts) }] as const);
    app.all(path, dispatch(new Map(served)));
  }
  app.use(nothingThere, onError);
  return {
    express: app,
    endStreams: () => {
      for (const end of streams) end();
    },
  };
};

const byPath = (routes: readonly Route[]): Map<string, Route[]> => {
  const grouped = new Map<string, Route[]>();
  for (const route of routes) grouped.set(route.path, [...(grouped.get(route.path) ?? []), route]);
  return grouped;
};

const notDecodable = (): Error => httpErrors.invalid('path params', [{ field: 'path', issue: 'must be percent-encoded UTF-8' }]);
