import { hash } from 'node:crypto';
import type { Clock } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import type { Exchange } from './exchange.js';

/** What is known of an answer that was sent. */
export interface Answered {
  readonly method: string;
  /** The pattern of the route, `none` for a path that has none. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

/** One line for every request: neither its query, nor its headers, nor anything that names a person. */
export const createAccessLog =
  (logger: Logger, clock: Clock) =>
  ({ request, response, requestId, mode, route, caller, startedAt }: Exchange): Answered => {
    const answered = {
      method: request.method,
      route: route?.path ?? 'none',
      status: response.statusCode,
      durationMs: clock.now() - startedAt,
    };
    logger.info(
      {
        requestId,
        ...answered,
        mode,
        path: mayNameSomebody.test(request.path) ? answered.route : request.path,
        ...(caller !== undefined && { role: caller.role, subject: shortHash(caller.subject) }),
        ...(caller?.tokenId !== undefined && { tokenId: caller.tokenId }),
        ...(!response.writableFinished && { aborted: true }),
      },
      'request',
    );
    return answered;
  };

const mayNameSomebody = /@|%40/;

/** Enough to follow one caller through the log; a subject may be an address. */
const shortHash = (text: string): string => hash('sha1', text, 'base64url').slice(0, 12);
