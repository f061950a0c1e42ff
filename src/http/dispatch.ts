import { anyOrigin, preflightHeaders, preflightOfAnyOrigin } from './cors.js';
import { httpErrors } from './errors.js';
import type { Exchange, Fail, Handler } from './exchange.js';
import { createPathTable } from './pathTable.js';
import { send } from './reply.js';
import type { Route } from './route.js';
import { createServe, type Serve, type ServeParts } from './serve.js';

/** Answers a request for a path, whatever its method. */
type Dispatch = (exchange: Exchange, params: Record<string, string>) => void;

/** Answers the requests for the paths of `routes`, and passes on all others. */
export const createDispatch = (routes: readonly Route[], parts: ServeParts, fail: Fail): Handler => {
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

  const findRoute = createPathTable(
    [...byPath(routes)].map(([path, ofPath]) => {
      const served = ofPath.map((route) => [route.method.toUpperCase(), { route, serve: createServe(route, parts) }] as const);
      return [path, dispatch(new Map(served))] as const;
    }),
  );
  return (request, response, next) => {
    const found = findRoute(request.path);
    if (found === undefined) next();
    else found.entry(response.locals.exchange, found.params);
  };
};

const byPath = (routes: readonly Route[]): Map<string, Route[]> => {
  const grouped = new Map<string, Route[]>();
  for (const route of routes) grouped.set(route.path, [...(grouped.get(route.path) ?? []), route]);
  return grouped;
};
