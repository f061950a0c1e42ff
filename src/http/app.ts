import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response } from 'express';
import type { RecordStore } from '../projections/store/readModelStore.js';
import type { Answered } from './accessLog.js';
import { createBindSubject } from './auth/bindSubject.js';
import { createFindStanding, type StandingParts } from './auth/standing.js';
import { SenderGone } from './body.js';
import { strangersBodyMs, unlessWhole } from './bodyTime.js';
import { createSpendBudget } from './budgets.js';
import { createDispatch } from './dispatch.js';
import { createEntrance } from './entrance.js';
import { answerFor, httpErrors, type ErrorAnswer } from './errors.js';
import { createRequestIds, type Exchange, type Fail, type Handler, type Locals } from './exchange.js';
import { createIdempotency } from './idempotency.js';
import { createInside } from './inside.js';
import { createLoad } from './load.js';
import { createMcpHandler, type McpParts } from './mcp/mcpHandler.js';
import type { Pages } from './pages/pages.js';
import { replyToError, send } from './reply.js';
import type { GitHandler } from './git/gitHandler.js';
import type { Route } from './route.js';
import { createSenders, type SenderLimits, type SenderMetrics } from './senders.js';
import type { ServeParts } from './serve.js';
import type { Clock } from '../platform/clock.js';
import type { TrustsProxy } from '../platform/publicAddress.js';

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

const defaultLimits: HttpLimits = { maxUnderWay: 2_000, maxOfSender: 200, maxLagMs: 5_000 };

/**
 * The API as an express application: one set of routes, in two entry modes (specification,
 * "Authentication").
 */
export const createApp = (parts: HttpAppParts): HttpApp => {
  const { engine } = parts;
  const { logger } = engine;
  const { clock = engine.clock } = parts;
  const requestIdOf = createRequestIds(engine.random);
  const limits = { ...defaultLimits, ...parts.limits };
  const load = createLoad(engine.clock, limits);
  const senders = createSenders(
    clock,
    limits,
    parts.metrics ?? { refused: () => undefined, connections: () => undefined },
    parts.trustsProxy,
  );
  const spendBudget = createSpendBudget(engine.clock, parts.rateLimit, parts.trustsProxy);
  const streams = new Set<() => void>();
  const vitalPaths = new Set(parts.routes.filter(({ vital }) => vital === true).map(({ path }) => path));

  const fail: Fail = (exchange, error) => {
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
  const app = express();
  app.enable('case sensitive routing').disable('x-powered-by').disable('etag').disable('query parser');
  const inside = createInside(app);
  const { '/': atRoot, ...mounts } = parts.mounts ?? {};
  app.use(createEntrance({ ...parts, clock, vitalPaths, inside, senders, load, requestIdOf, fail }));
  // It passes most requests on, whose bodies may take longer than those of the others.
  if (atRoot !== undefined) app.use(atRoot);
  app.use(servePage);
  // Before what is mounted: most requests are for these, and express compares paths one by one.
  app.use(createDispatch(parts.routes, serveParts, fail));
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
    const mcp = createMcpHandler({ ...parts, ...parts.mcp, inside, spendBudget, onStream });
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

const notDecodable = (): Error => httpErrors.invalid('path params', [{ field: 'path', issue: 'must be percent-encoded UTF-8' }]);
