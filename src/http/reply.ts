import helmet from 'helmet';
import { ServerResponse, IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { compress, encodingFor, isCompressible } from './compression.js';
import { etagIn, etagOf, isKnown } from './conditional.js';
import type { ErrorAnswer } from './errors.js';
import { isSafe, type Exchange } from './exchange.js';
import type { Answer } from './route.js';

/** An answer as bytes: what is sent, and what is stored for an `Idempotency-Key`. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text is sent in one piece with the head. */
  readonly body?: string | Uint8Array;
  /** The personal texts in the body, still encrypted: these are stored. Not sent. */
  readonly people?: readonly string[];
}

const json = 'application/json; charset=utf-8';

/** Of the answer to a dry run, so that the type of a plain 200 stays what it is (api.md, 3). */
export const dryRunType = 'application/vnd.doorstep.dry-run+json';

/**
 * Turns a handler's answer into bytes, with its `ETag`, and its `Link` when it is a page of a list.
 */
export const replyTo = (exchange: Exchange, answer: Answer, baseUrl: string): Reply => {
  const { request } = exchange;
  const safe = isSafe(request.method);
  const status = answer.status ?? (answer.body === undefined ? 204 : 200);
  const headers: Record<string, string> = {
    'cache-control': safe && exchange.viewer === undefined ? 'private, no-cache' : 'no-store',
  };
  if (safe) headers.vary = 'authorization';
  const location = status === 201 ? locationOf(exchange, answer) : undefined;
  if (location !== undefined) headers.location = `${pathOf(baseUrl)}${prefixOf(exchange)}${location}`;
  if (answer.next !== undefined) headers.link = `<${nextPage(baseUrl, request.originalUrl, answer.next)}>; rel="next"`;
  if (answer.total !== undefined) headers['total-count'] = String(answer.total);
  const withOwn = (): Reply['headers'] => Object.assign(headers, answer.headers);
  if (answer.body === undefined) return { status, headers: withOwn() };

  const isBytes = answer.body instanceof Uint8Array;
  const body = isBytes ? answer.body : JSON.stringify(answer.body);
  if (!isBytes) headers['content-type'] = json;
  if (safe || answer.revision !== undefined) headers.etag = answer.headers?.etag ?? etagOf(body, answer.revision);
  return { status, headers: withOwn(), body, ...(answer.people !== undefined && { people: answer.people }) };
};

const pathOf = (baseUrl: string): string => new URL(baseUrl).pathname.replace(/\/$/, '');

const prefixOf = ({ mode }: Exchange): string => (mode === 'token' ? '/v1' : '');

const locationOf = ({ request: { method, path } }: Exchange, { location, body }: Answer): string | undefined => {
  const own = path.replace(/\/$/, '');
  if (location !== undefined || method !== 'POST') return location ?? own;
  const { id } = body as { readonly id?: unknown };
  return typeof id === 'string' ? `${own}/${encodeURIComponent(id)}` : undefined;
};

const nextPage = (baseUrl: string, url: string, cursor: string): string => {
  const next = new URL(url, 'http://path.invalid');
  next.searchParams.set('cursor', cursor);
  return `${baseUrl}${next.pathname}${next.search}`;
};

export const replyToError = ({ status, code, error, details, headers, people }: ErrorAnswer): Reply => ({
  status,
  headers: { 'content-type': json, 'cache-control': 'no-store', ...headers },
  body: JSON.stringify({ error, code, details }),
  ...(people !== undefined && { people }),
});

/** Sends a reply in one write. A body that the caller has already is left out (304). */
export const send = ({ request, response, requestId, headers: own }: Exchange, reply: Reply): void => {
  if (response.headersSent || response.destroyed) return;
  drain(request, response);
  const { body } = reply;
  // A map, and a list of names and values in turn: an object of so many names took four times as long.
  const headers = new Map<string, string | number>(securityEntries);
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  for (const [name, value] of Object.entries(reply.headers)) headers.set(name, value);
  headers.set('x-request-id', requestId);
  const sendHead = (status: number): ServerResponse => {
    const list: (string | number)[] = [];
    for (const [name, value] of headers) list.push(name, value);
    return response.writeHead(status, list);
  };
  const isCompressed = 'content-encoding' in reply.headers;
  const mayCompress = !isCompressed && isCompressible(body, reply.headers['content-type']);
  const encoding = mayCompress ? encodingFor(request) : null;
  const vary = [own.vary, reply.headers.vary, mayCompress ? 'accept-encoding' : undefined].filter((name) => name !== undefined);
  if (vary.length > 0) headers.set('vary', vary.join(', '));

  const { etag } = reply.headers;
  if (encoding !== null && etag !== undefined) headers.set('etag', etagIn(etag, encoding));
  const known = request.headers['if-none-match'];
  if (known !== undefined && etag !== undefined && isSafe(request.method) && reply.status === 200 && isKnown(known, etag)) {
    headers.delete('content-type');
    sendHead(304).end();
    return;
  }
  if (body === undefined) {
    if (reply.status !== 204) headers.set('content-length', 0);
    sendHead(reply.status).end();
    return;
  }
  const sendBody = (bytes: string | Uint8Array): void => {
    headers.set('content-length', Buffer.byteLength(bytes));
    sendHead(reply.status);
    if (request.method === 'HEAD') response.end();
    else response.end(bytes);
  };
  if (encoding === null) {
    sendBody(body);
    return;
  }
  compress(body, encoding, (error, compressed) => {
    if (response.headersSent || response.destroyed) return;
    if (error === null) headers.set('content-encoding', encoding);
    sendBody(error === null ? compressed : body);
  });
};

/**
 * Reads the rest of the body before the connection closes: closing it with unread data may discard
 * the answer on its way.
 */
const drain = (request: IncomingMessage, response: ServerResponse): void => {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  const isHeard = request.complete || (length === undefined && coding === undefined);
  if (isHeard || response.shouldKeepAlive) return;
  response.shouldKeepAlive = true;
  request.once('end', () => request.socket.end());
};

/**
 * The headers that helmet would set on every answer: they never change, so they are asked for once.
 */
const headersOf = (options: Parameters<typeof helmet>[0]): Readonly<Record<string, string>> => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  helmet(options)(response.req, response, () => undefined);
  return Object.fromEntries(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]));
};

/**
 * Answers are data: nothing in them is ever loaded, framed or run. What only matters to pages is
 * left out.
 */
export const securityHeaders = headersOf({
  originAgentCluster: false,
  dnsPrefetchControl: false,
  ieNoOpen: false,
  permittedCrossDomainPolicies: false,
  xssFilter: false,
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  frameguard: { action: 'deny' },
  crossOriginResourcePolicy: { policy: 'same-origin' },
});

const securityEntries = Object.entries(securityHeaders);

/**
 * A page for people runs and loads what is served beside it, and nothing else but what is named.
 * @param frames what it may show in a frame, beside what is served with it; absent: it has no frames
 */
export const pagePolicy = ({
  connects,
  pictures,
  frames,
}: Record<'connects' | 'pictures', readonly string[]> & { readonly frames?: readonly string[] }): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ['img-src', "'self'", 'data:', ...pictures].join(' '),
    ['connect-src', "'self'", ...connects].join(' '),
    ...(frames === undefined ? [] : [['frame-src', "'self'", ...frames].join(' ')]),
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');

/** The one page of the API, its documentation, runs no script and loads nothing. */
export const pageSecurityPolicy =
  headersOf({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'unsafe-inline'"],
        imgSrc: ['data:'],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
  })['content-security-policy'] ?? '';
