import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response } from 'express';
import type { RecordStore } from '../projections/store/readModelStore.js';
import { createAccessLog, type Answered } from './accessLog.js';
import { createBindSubject } from './auth/bindSubject.js';
import { createFindStanding, type StandingParts } from './auth/standing.js';
import { SenderGone } from './body.js';
import { unlessWhole } from './bodyTime.js';
import { createBudgets } from './budgets.js';
import { anyOrigin, corsHeaders, preflightHeaders, preflightOfAnyOrigin } from './cors.js';
import { answerFor, httpErrors, type ErrorAnswer } from './errors.js';
import { createRequestIds, hasBody, isSafe, type Exchange, type Locals } from './exchange.js';
import { createIdempotency } from './idempotency.js';
import { createInside } from './inside.js';
import { createLoad } from './load.js';
import { createMcpHandler, type McpParts } from './mcp/mcpHandler.js';
import type { Pages } from './pages/pages.js';
import { createPathTable } from './pathTable.js';
import { replyToError, send } from './reply.js';
import type { GitHandler } from './git/gitHandler.js';
import type { Route } from './route.js';
import { createSenders, type SenderLimits, type SenderMetrics } from './senders.js';
import { createServe, type Serve, type ServeParts } from './serve.js';
import type { Clock } from '../platform/clock.js';
import { senderIn, type TrustsProxy } from '../platform/publicAddress.js';
import { namesHost } from './target.js';

export interface HttpAppParts extends StandingParts {
  readonly records: RecordStore;
  readonly routes: readonly Route[];
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
  /** Pages for people; none by default. */
  readonly pages?: Pages;
  /** Answers below `/git`. */
  readonly git?: GitHandler;
  /** Of the MCP server at `/mcp`; none by default. */
  readonly mcp?: McpParts;
  /** Told of every answer, when it is sent or given up. */
  readonly observe?: (answered: Answered) => void;
  /**
   * Beyond these, requests are turned away with 503; the requests and connections of one sender
   * with 429.
   */
  readonly limits?: Partial<HttpLimits>;
  readonly metrics?: SenderMetrics;
  /** Whose `X-Forwarded-For` is believed. Default: peers in private networks. */
  readonly trustsProxy?: TrustsProxy;
  /** Requests a second that each caller may make. Default: no end. */
  readonly rateLimit?: number | undefined;
  /** Of timeouts. Default: the engine's. */
  readonly clock?: Clock;
}

export interface HttpLimits extends SenderLimits {
  readonly maxLagMs: number;
}

export interface HttpApp {
  readonly express: Express;
  /**
   * Of what is refused before it is a whole request: the id that the answer has, and the log. It is
   * that of the request that `response` is for, when it has come so far.
   */
  refused(answer: Pick<ErrorAnswer, 'status' | 'code'>, response: ServerResponse | undefined): string;
  /** To be called with every connection that is opened. */
  connected(socket: Socket): void;
  /** Ends answers that would go on and on (server-sent events), because the service stops. */
  endStreams(): void;
}

type Handler = RequestHandler<Record<string, string>, unknown, unknown, unknown, Locals>;
/** Answers a request for a path, whatever its method. */
type Dispatch = (exchange: Exchange, params: Record<string, string>) => void;

const defaultLimits: HttpLimits = { maxUnderWay: 2_000, maxOfSender: 200, maxLagMs: 5_000 };

/**
 * How long the body of somebody may take of whom nothing is known, and what is left of a body after
 * the answer.
 */
const strangersBodyMs = 5_000;

/**
 * The API as an express application: one set of routes, in two entry modes (specification,
 * "Authentication").
 */
export const createApp = (parts: HttpAppParts): HttpApp => {
  const { engine, corsOrigins } = parts;
  const { logger } = engine;
  const { clock = engine.clock } = parts;
  const requestIdOf = createRequestIds(engine.random);
  const accessLog = createAccessLog(engine);
  const limits = { ...defaultLimits, ...parts.limits };
  const load = createLoad(engine.clock, limits);
  const senders = createSenders(
    clock,
    limits,
    parts.metrics ?? { refused: () => undefined, connections: () => undefined },
    parts.trustsProxy,
  );
  const streams = new Set<() => void>();
  const vitalPaths = new Set(parts.routes.filter(({ vital }) => vital === true).map(({ path }) => path));

  const fail = (exchange: Exchange, error: unknown): void => {
    // Nobody is left to be answered.
    if (error instanceof SenderGone) return;
    const { requestId } = exchange;
    const answer = answerFor(error, requestId, exchange.caller?.role);
    exchange.errorCode = answer.code;
    if (answer.status === 500) logger.error({ err: error, requestId }, 'a request failed');
    else if (answer.status > 500) logger.warn({ err: error, requestId }, 'a request could not be answered');
    send(exchange, replyToError(answer));
  };

  const limitBodyTime = (exchange: Exchange): void => {
    const { request, response } = exchange;
    const cancel = unlessWhole(clock, request, strangersBodyMs, () => {
      response.shouldKeepAlive = false;
      fail(exchange, httpErrors.requestTimeout());
    });
    if (cancel !== undefined) response.once('close', cancel);
  };

  const enter: Handler = (request, response, next) => {
    const inside = calls.callOf(request);
    const isToken = request.url.startsWith('/v1/');
    // The router strips the prefix before it matches (specification, "Endpoints"); `originalUrl`
    // keeps it.
    if (isToken) request.url = request.url.slice('/v1'.length);
    const isVital = vitalPaths.has(request.path);
    // What is asked within the process counts for the sender of the request that it answers.
    const admission = isVital ? undefined : senders.admit(inside?.answers ?? request, response);
    let endWork = (): void => undefined;
    const exchange: Exchange = {
      request,
      response,
      requestId: inside?.requestId ?? requestIdOf(request.headers['x-request-id']),
      mode: inside !== undefined ? 'mcp' : isToken ? 'token' : 'portal',
      authorization: inside === undefined ? request.headers.authorization : inside.authorization,
      isInside: inside !== undefined,
      headers: corsHeaders(corsOrigins, request.headers.origin),
      startedAt: engine.clock.now(),
      ...(admission !== null && { admission }),
      yieldPlace: () => {
        endWork();
      },
    };
    response.locals.exchange = exchange;
    response.once('close', () => {
      endWork();
      try {
        const answered = accessLog(exchange);
        parts.observe?.(answered);
      } catch (err) {
        // Thrown from this listener, it would end the process.
        logger.error({ err, requestId: exchange.requestId }, 'a request could not be logged');
      }
      unlessWhole(clock, request, strangersBodyMs, () => request.socket.destroy());
    });
    if (!namesHost(request)) throw httpErrors.malformed();
    // Answered here and not thrown: the router would compare the path with those of all routes
    // first, and of these requests there may be thousands.
    if (admission === null) {
      response.shouldKeepAlive = false;
      fail(exchange, httpErrors.tooManyOfSender());
      return;
    }
    if (!isVital && load.isTooHigh()) {
      fail(exchange, httpErrors.busy());
      return;
    }
    const startWork = (): void => {
      if (!response.closed) endWork = load.started();
    };
    // A place is taken only when the body is whole: a sender that stalls takes none.
    if (hasBody(request) && !isSafe(request.method)) request.once('end', startWork);
    else startWork();
    next();
  };

  const enterMount: Handler = (_request, response, next) => {
    const { exchange } = response.locals;
    limitBodyTime(exchange);
    response.setHeader('x-request-id', exchange.requestId);
    next();
  };

  const servePage: Handler = (request, response, next) => {
    const { exchange } = response.locals;
    const { pages } = parts;
    if (pages === undefined || exchange.mode !== 'portal') {
      next();
      return;
    }
    const { path, method, headers } = request;
    const page = pages({
      requestId: exchange.requestId,
      method,
      path,
      headers,
      query: () => new URLSearchParams(request.url.split('?', 2)[1]),
    });
    if (page === null) {
      next();
      return;
    }
    page().then(
      (reply) => {
        send(exchange, reply);
      },
      (error: unknown) => {
        fail(exchange, error);
      },
    );
  };

  const answerOptions = (exchange: Exchange, allow: string): void => {
    const isAllowed = exchange.headers['access-control-allow-origin'] !== undefined;
    send(exchange, { status: 204, headers: { allow, ...(isAllowed && preflightHeaders(allow)) } });
  };

  const dispatch = (served: ReadonlyMap<string, { readonly route: Route; readonly serve: Serve }>): Dispatch => {
    const allow = [...served.keys(), ...(served.has('GET') ? ['HEAD'] : []), 'OPTIONS'].sort().join(', ');
    const isOpen = [...served.values()].some(({ route }) => route.openToOrigins === true);
    return (exchange, params) => {
      const { request } = exchange;
      if (isOpen) exchange.headers = anyOrigin;
      if (request.method === 'OPTIONS') {
        if (isOpen) send(exchange, { status: 204, headers: { allow, ...preflightOfAnyOrigin } });
        else answerOptions(exchange, allow);
        return;
      }
      const found = served.get(request.method === 'HEAD' ? 'GET' : request.method);
      if (found === undefined) throw httpErrors.methodNotAllowed(allow);
      exchange.route = found.route;
      found.serve(exchange, params).catch((error: unknown) => {
        fail(exchange, error);
      });
    };
  };

  /** Under `/v1`, and for tools, there is nothing but the API. */
  const leaveApi: Handler = (_request, response, next) => {
    if (response.locals.exchange.mode !== 'portal') throw httpErrors.notFound();
    next();
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

  const { rateLimit } = parts;
  const spend = rateLimit === undefined ? undefined : createBudgets(engine.clock, rateLimit);

  const spendBudget = (exchange: Exchange): void => {
    if (spend === undefined || rateLimit === undefined) return;
    const { request } = exchange;
    const caller = exchange.viewer ?? exchange.caller;
    const anonymous = (): string => `sender ${senderIn(request, parts.trustsProxy)}`;
    const { isExceeded, headers } = spend(caller === undefined ? anonymous() : `${caller.tokenId ?? 'portal'} ${caller.subject}`);
    exchange.headers = { ...exchange.headers, ...headers };
    if (isExceeded) throw httpErrors.overBudget(rateLimit);
  };

  const onStream = (exchange: Exchange, end: () => void): (() => void) => {
    // It waits more than it works, and stays counted for its sender.
    exchange.yieldPlace();
    streams.add(end);
    return () => streams.delete(end);
  };

  const serveParts: ServeParts = {
    spendBudget,
    engine,
    findStanding: createFindStanding(parts),
    findStandingNoting: (note) => createFindStanding(parts, note),
    idempotency: createIdempotency(engine, parts.records),
    bindSubject: createBindSubject(parts.identityProvider),
    baseUrl: parts.baseUrl,
    limitBodyTime,
    onStream,
  };
  const dispatchOf = (routes: readonly Route[]): Dispatch =>
    dispatch(new Map(routes.map((route) => [route.method.toUpperCase(), { route, serve: createServe(route, serveParts) }])));
  const app = express();
  const calls = createInside(app);
  app.enable('case sensitive routing').disable('x-powered-by').disable('etag').disable('query parser');
  const findRoute = createPathTable([...byPath(parts.routes)].map(([path, routes]) => [path, dispatchOf(routes)]));
  const serveRoute: Handler = (request, response, next) => {
    const found = findRoute(request.path);
    if (found === undefined) next();
    else found.entry(response.locals.exchange, found.params);
  };
  const { '/': atRoot, ...mounts } = parts.mounts ?? {};
  app.use(enter);
  // It passes most requests on, whose bodies may take longer than those of the others.
  if (atRoot !== undefined) app.use(atRoot);
  app.use(servePage);
  // Before what is mounted: most requests are for these, and express compares paths one by one.
  app.use(serveRoute);
  app.use(leaveApi);
  for (const [path, handler] of Object.entries(mounts)) app.use(path, enterMount, handler);
  const { git } = parts;
  if (git !== undefined) {
    app.use('/git', (_request, response: Response<unknown, Locals>) => {
      const { exchange } = response.locals;
      git(exchange, spendBudget).catch((error: unknown) => {
        fail(exchange, error);
      });
    });
  }
  if (parts.mcp !== undefined) {
    const mcp = createMcpHandler({ ...parts, ...parts.mcp, inside: calls, spendBudget, onStream });
    app.all('/mcp', (_request, response: Response<unknown, Locals>) => {
      const { exchange } = response.locals;
      mcp(exchange).catch((error: unknown) => {
        fail(exchange, error);
      });
    });
  }
  app.use(nothingThere, onError);
  return {
    express: app,
    refused: ({ status, code }, response) => {
      const locals = (response as Partial<Response<unknown, Partial<Locals>>> | undefined)?.locals;
      // It has a line of its own.
      if (locals?.exchange !== undefined) return locals.exchange.requestId;
      const requestId = requestIdOf(undefined);
      logger.info({ requestId, route: 'none', status, code }, 'request');
      return requestId;
    },
    connected: (socket) => {
      senders.connected(socket);
    },
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
