import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { Caller } from './auth/caller.js';
import type { EntryMode } from './auth/authenticate.js';
import type { Route } from './route.js';
import type { Admission } from './senders.js';

/** One request and what is known of it so far. */
export interface Exchange {
  readonly request: Request<Record<string, string>, unknown, unknown, unknown, Locals>;
  readonly response: Response<unknown, Locals>;
  readonly requestId: string;
  readonly mode: EntryMode;
  /** The header, or that of the request that this one is made for within the process. */
  readonly authorization: string | undefined;
  /** It is made within the process, to answer another one. */
  readonly isInside: boolean;
  /** Headers of whatever the answer will be: CORS, the caller's budget. */
  headers: Readonly<Record<string, string>>;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
  /** What counts for its sender; absent for routes that are always answered. */
  readonly admission?: Admission | undefined;
  /** Its work has ended, but its answer goes on: it takes no place among the requests under way. */
  readonly yieldPlace: () => void;
  route?: Route;
  caller?: Caller;
  /** The admin that asks, when the answer is the one that `caller` would get. */
  viewer?: Caller;
  /** What `?as=` said. */
  viewAs?: unknown;
  /** What is asked of the MCP server: the method, and the tool. */
  mcp?: string;
  /** Of the error that it is answered with. */
  errorCode?: string;
}

/** Carries an exchange between express's handlers. */
export interface Locals extends Record<string, unknown> {
  exchange: Exchange;
}

export type Handler = RequestHandler<Record<string, string>, unknown, unknown, unknown, Locals>;

/** Answers with what went wrong, and logs what is the service's fault. */
export type Fail = (exchange: Exchange, error: unknown) => void;

/** Whether a body follows the head (RFC 9112, 6.3). */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** Methods that change nothing (RFC 9110, 9.2.1). */
export const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD';

const printable = /^[\x21-\x7e]{1,128}$/;
/**
 * Request ids stay in the log and in events for ever, so they may hold neither an address nor the
 * beginning of a token.
 */
const revealing = /@|%40|svc_pat_|eyJ/;

/**
 * Takes the caller's `X-Request-Id` when it is one that can be put into a log, an event and a
 * header; makes one otherwise.
 */
export const createRequestIds = (random: { bytes(length: number): Uint8Array }): ((given: unknown) => string) => {
  const prefix = Buffer.from(random.bytes(9)).toString('base64url');
  let count = 0;
  return (given) => {
    if (typeof given === 'string' && printable.test(given) && !revealing.test(given)) return given;
    count += 1;
    return `${prefix}.${count.toString(36)}`;
  };
};
