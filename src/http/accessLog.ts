import type { Engine } from '../engine.js';
import type { Exchange } from './exchange.js';

/** What is known of an answer that was sent. */
export interface Answered {
  readonly method: string;
  /** The pattern of the route, `none` for a path that has none. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  /** Of an error. */
  readonly code?: string;
}

/**
 * One line for every request: neither its query, nor its headers, nor anything that names a person.
 * `subject` is enough to follow one caller through the log; a list of addresses is not enough to
 * find out who it is. What a request asked of the API within the process, to be answered, is logged
 * for debugging: a call of a tool is one line.
 */
export const createAccessLog =
  ({ logger, clock, blindIndex }: Pick<Engine, 'logger' | 'clock' | 'blindIndex'>) =>
  (exchange: Exchange): Answered => {
    const { request, response, requestId, mode, route, viewer, startedAt, errorCode, mcp, isInside } = exchange;
    const caller = viewer ?? exchange.caller;
    // What is mounted (`/sites`, `/oidc`, `/git`) sees its paths without their beginning.
    const path = request.baseUrl + request.path;
    const answered = {
      method: request.method,
      route: route?.path ?? 'none',
      status: response.statusCode,
      durationMs: clock.now() - startedAt,
      ...(errorCode !== undefined && { code: errorCode }),
    };
    logger[isInside ? 'debug' : 'info'](
      {
        requestId,
        ...answered,
        mode,
        ...(mcp !== undefined && { mcp }),
        path: mayNameSomebody.test(path) ? answered.route : path.replace(secret, '$1…'),
        ...(caller !== undefined && { role: caller.role, subject: blindIndex(caller.subject).slice(0, 12) }),
        ...(caller?.tokenId !== undefined && { tokenId: caller.tokenId }),
        ...(caller?.program !== undefined && { program: caller.program }),
        ...(!response.writableFinished && { aborted: true }),
      },
      'request',
    );
    return answered;
  };

const mayNameSomebody = /@|%40/;
/**
 * What lets in whoever knows it: the name of an attempt to sign in, which belongs to the browser that
 * makes it, and that of a draft (`hosting/serve.ts`), which is below `/sites` or at the site's own host.
 */
const secret = /(^\/oidc\/(?:authorize|sign-in)\/|\/_previews\/)[^/]+/;
