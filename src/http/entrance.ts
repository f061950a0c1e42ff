import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from '../engine.js';
import type { Clock } from '../platform/clock.js';
import { createAccessLog, type Answered } from './accessLog.js';
import { strangersBodyMs, unlessWhole } from './bodyTime.js';
import { corsHeaders } from './cors.js';
import { httpErrors } from './errors.js';
import { hasBody, isSafe, type Exchange, type Fail, type Handler } from './exchange.js';
import type { Inside, InsideCall } from './inside.js';
import type { Load } from './load.js';
import type { Admission, Senders } from './senders.js';
import { namesHost } from './target.js';

export interface EntranceParts {
  readonly engine: Engine;
  /** Of timeouts. */
  readonly clock: Clock;
  readonly corsOrigins: readonly string[];
  /** Of routes that are always answered, whatever the load. */
  readonly vitalPaths: ReadonlySet<string>;
  readonly inside: Inside;
  readonly senders: Senders;
  readonly load: Load;
  readonly requestIdOf: (given: unknown) => string;
  readonly fail: Fail;
  readonly observe?: ((answered: Answered) => void) | undefined;
}

/** Where every request begins: its exchange and its log line, and whether it is taken or turned away. */
export const createEntrance = (parts: EntranceParts): Handler => {
  const { engine, clock, corsOrigins, vitalPaths, inside: calls, senders, load, requestIdOf, fail } = parts;
  const { logger } = engine;
  const accessLog = createAccessLog(engine);

  /** What is asked within the process is its sender's that it answers, and runs within that one's place, one at a time. */
  const admit = (request: IncomingMessage, response: ServerResponse, inside: InsideCall | undefined): Admission | null => {
    if (inside?.admission?.lend(response) === true) return inside.admission;
    return senders.admit(inside?.answers ?? request, response);
  };

  return (request, response, next) => {
    const inside = calls.callOf(request);
    const isToken = request.url.startsWith('/v1/');
    // The router strips the prefix before it matches (specification, "Endpoints"); `originalUrl`
    // keeps it.
    if (isToken) request.url = request.url.slice('/v1'.length);
    const isVital = vitalPaths.has(request.path);
    const admission = isVital ? undefined : admit(request, response, inside);
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
};
