import { isIP } from 'node:net';
import { parse as parseQuery } from 'node:querystring';
import { Type } from 'typebox';
import { Refused } from '../../commands/refusal.js';
import { resourceUrl } from '../../integrations/identity/port.js';
import { createAuthenticate } from '../auth/authenticate.js';
import type { Caller } from '../auth/caller.js';
import type { StandingParts } from '../auth/standing.js';
import { parseBody, readBody, SenderGone } from '../body.js';
import type { SpendBudget } from '../budgets.js';
import { answerFor, HttpFault, httpErrors } from '../errors.js';
import type { Exchange } from '../exchange.js';
import { lazily } from '../../platform/lazily.js';
import { parseUrl } from '../../platform/urls.js';
import type { Inside } from '../inside.js';
import { securityHeaders, send } from '../reply.js';
import { textsValidator } from '../validation.js';
import type { McpCall, McpProgram } from './port.js';

/** What the composition gives. */
export interface McpParts {
  /** Loads the program; called with the first request that is let in, and again after a failure. */
  readonly loadProgram: () => Promise<McpProgram>;
  /** Whether a hostname is one of the service's own. */
  readonly isOwnHostname: (hostname: string) => boolean;
}

interface McpHandlerParts extends StandingParts, McpParts {
  readonly baseUrl: () => string;
  readonly corsOrigins: readonly string[];
  readonly inside: Inside;
  readonly spendBudget: SpendBudget;
  readonly onStream: (exchange: Exchange, end: () => void) => () => void;
}

/** What a message of the protocol asks for; texts of the caller, so that only known forms are logged. */
interface Asked {
  readonly method: string;
  readonly tool?: string;
}

const subscription = 'subscriptions/listen';

/**
 * The MCP server over streamable HTTP, as a resource server of OAuth: it takes access tokens that
 * were issued for it, and personal access tokens. Its tools call the API within the process as the
 * caller, who is let in anew at each call, so that the protocol opens nothing that the routes do not.
 * Nothing is kept between two requests: any process answers any of them.
 *
 * Whatever goes wrong before the protocol begins is thrown.
 */
export const createMcpHandler = (parts: McpHandlerParts): ((exchange: Exchange) => Promise<void>) => {
  const { engine, identityProvider, baseUrl, inside, spendBudget, onStream } = parts;
  const authenticate = createAuthenticate(parts);
  const load = lazily(parts.loadProgram);

  /**
   * A page that makes its own name lead to this address (DNS rebinding) is told apart by `Host`: an
   * address instead of a name cannot be made to lead elsewhere.
   */
  const checkHost = ({ request }: Exchange): void => {
    const name = parseUrl(`http://${request.headers.host ?? ''}`)?.hostname.replace(/^\[|\]$/g, '') ?? '';
    if (isIP(name) === 0 && !parts.isOwnHostname(name)) throw httpErrors.hostNotAllowed();
  };

  /** Programs send no `Origin`; a page has to be of this service, of `CORS_ORIGINS`, or of this machine as the service is. */
  const checkOrigin = ({ request: { headers } }: Exchange): void => {
    const { origin } = headers;
    if (origin === undefined || parts.corsOrigins.includes(origin)) return;
    const own = new URL(baseUrl());
    const other = parseUrl(origin);
    const isLoopback = (url: URL): boolean => loopback.test(url.hostname);
    if (other !== undefined && (other.origin === own.origin || (isLoopback(own) && isLoopback(other)))) return;
    throw httpErrors.originNotAllowed();
  };

  const letIn = async (exchange: Exchange): Promise<Caller> => {
    try {
      const caller = await authenticate(parts.reader.sinceNow(), exchange.authorization, 'mcp');
      exchange.caller = caller;
      if (caller.scopes?.includes('mcp') === false) {
        throw httpErrors.insufficientScope(challenge({ error: 'insufficient_scope' }));
      }
      return caller;
    } catch (error) {
      if (!(error instanceof Refused) || error.refusal.kind !== 'unauthenticated') throw error;
      // RFC 6750, 3.1: without a token there is none that is invalid.
      const reason = error.refusal.code === 'no_authorization_header' ? {} : { error: 'invalid_token' };
      const headers = { 'www-authenticate': challenge(reason) };
      throw new HttpFault({ ...answerFor(error, exchange.requestId), headers });
    } finally {
      spendBudget(exchange);
    }
  };

  /** Where a program learns how to get a token (RFC 9728, 5.1; RFC 6750, 3). */
  const challenge = (reason: Readonly<Record<string, string>>): string => {
    const values = {
      ...reason,
      resource_metadata: `${baseUrl()}/.well-known/oauth-protected-resource/mcp`,
      ...(identityProvider?.hasScopes === true && { scope: 'mcp' }),
    };
    return `Bearer ${Object.entries(values)
      .map(([name, value]) => `${name}="${value}"`)
      .join(', ')}`;
  };

  /** @returns `undefined` for what is no JSON: the protocol has an answer to it */
  const bodyOf = async (exchange: Exchange): Promise<{ readonly bytes: Buffer; readonly value: unknown }> => {
    const bytes = await readBody(exchange.request, exchange.admission);
    try {
      return { bytes, value: parseBody(bytes) };
    } catch (error) {
      if (error instanceof Refused) return { bytes, value: undefined };
      throw error;
    }
  };

  const sendResponse = async (exchange: Exchange, answer: Response): Promise<void> => {
    const { response, requestId } = exchange;
    const headers: Record<string, string> = { 'cache-control': 'no-store' };
    for (const [name, value] of answer.headers) if (!isOfConnection.has(name)) headers[name] = value;
    if (answer.body === null || headers['content-type']?.startsWith('text/event-stream') !== true) {
      const body = answer.body === null ? undefined : await answer.text();
      send(exchange, { status: answer.status, headers, ...(body !== undefined && { body }) });
      return;
    }
    if (isGone(response)) {
      await answer.body.cancel();
      return;
    }
    response.writeHead(answer.status, {
      ...securityHeaders,
      ...exchange.headers,
      ...headers,
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': requestId,
    });
    response.flushHeaders();
    try {
      for await (const chunk of answer.body) {
        if (isGone(response)) break;
        if (!response.write(chunk)) await drained(response);
      }
    } finally {
      response.end();
    }
  };

  const answer = async (exchange: Exchange, caller: Caller, options: Options): Promise<void> => {
    const { request, response, requestId } = exchange;
    const { bytes, value } = await bodyOf(exchange);
    const asked = askedIn(value);
    exchange.mcp = asked.tool === undefined ? asked.method : `${asked.method} ${asked.tool}`;
    // From here on the calls of the API that it waits for take the places.
    exchange.yieldPlace();

    const gone = new AbortController();
    const giveUp = (): void => {
      gone.abort();
    };
    response.once('close', giveUp);
    if (response.destroyed) giveUp();
    // Nothing but a subscription goes on and on. What a tool has begun is ended, as every request is.
    const ended = asked.method === subscription ? onStream(exchange, giveUp) : (): void => undefined;
    try {
      const program = await load();
      const call = {
        answers: request,
        admission: exchange.admission,
        authorization: exchange.authorization,
        requestId,
        signal: gone.signal,
      };
      const { vault } = engine;
      const answered = await program.serveHttp(webRequest(exchange, resourceUrl(baseUrl(), 'mcp'), bytes, gone.signal), {
        ...(value !== undefined && { body: value }),
        baseUrl: baseUrl(),
        fetch: inside.fetchFor(call, baseUrl()),
        caller: {
          subject: caller.subject,
          role: caller.role,
          scope: caller.scope,
          ...(caller.tokenId !== undefined && { tokenId: caller.tokenId }),
          ...(caller.program !== undefined && { program: caller.program }),
        },
        confirmationKey: await vault.serviceKey('doorstep mcp confirmations', await vault.generation()),
        ...options,
        onFault: (err) => {
          engine.logger.warn({ err, requestId }, 'the MCP server could not do what it was asked for');
        },
        onRefusal: (err) => {
          engine.logger.debug({ err, requestId }, 'a message to the MCP server was refused');
        },
      });
      await sendResponse(exchange, answered);
    } catch (error) {
      if (gone.signal.aborted) throw new SenderGone('nobody waits for the answer any more', { cause: error });
      throw error;
    } finally {
      ended();
      // A body that was refused unread is read by nobody.
      request.resume();
    }
  };

  return async (exchange) => {
    const { request } = exchange;
    checkHost(exchange);
    checkOrigin(exchange);
    exchange.headers = { ...exchange.headers, ...corsOf(request.headers.origin) };
    if (request.method === 'OPTIONS') {
      send(exchange, { status: 204, headers: { allow, ...(request.headers.origin !== undefined && preflight) } });
      return;
    }
    const caller = await letIn(exchange);
    // Without sessions there is no stream to open, and none to end.
    if (request.method !== 'POST') throw httpErrors.methodNotAllowed(allow);
    const options = optionsIn(exchange);
    try {
      await answer(exchange, caller, options);
    } catch (error) {
      if (!(error instanceof HttpFault) || error.answer.status !== 413) throw error;
      exchange.errorCode = error.answer.code;
      const body = { jsonrpc: '2.0', id: null, error: { code: -32_600, message: error.answer.error } };
      send(exchange, { status: 413, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    }
  };
};

const allow = 'OPTIONS, POST';

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

const corsOf = (origin: string | undefined): Readonly<Record<string, string>> =>
  origin === undefined
    ? {}
    : {
        'access-control-allow-origin': origin,
        'access-control-expose-headers': 'mcp-protocol-version, retry-after, www-authenticate, x-request-id',
        'cross-origin-resource-policy': 'cross-origin',
        vary: 'origin',
      };

const preflight = {
  'access-control-allow-methods': allow,
  'access-control-allow-headers': '*, authorization',
  'access-control-max-age': '600',
};

/** Headers of one connection (RFC 9110, 7.6.1), which is not the one of the answer. */
const isOfConnection: ReadonlySet<string> = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding']);

const Switch = Type.Optional(
  Type.String({ pattern: '^(?:0|1|[Ff]alse|[Tt]rue|FALSE|TRUE)$', 'x-issue': 'use 1, true, 0 or false' }),
);
const Toolsets = Type.Optional(Type.String());
const checkQuery = textsValidator(Type.Object({ readonly: Switch, toolsets: Toolsets }));
const checkHeaders = textsValidator(Type.Object({ 'X-MCP-Readonly': Switch, 'X-MCP-Toolsets': Toolsets }));

const isOn = (text = ''): boolean => /^(?:1|true)$/i.test(text);

type Options = Pick<McpCall, 'readOnly' | 'toolsets'>;

/**
 * `?readonly=1` and `?toolsets=access,delivery`, or the headers `X-MCP-Readonly` and
 * `X-MCP-Toolsets`, for programs whose settings take an address alone or headers alone.
 * A mistyped one is refused, because every tool would be offered without it.
 */
const optionsIn = ({ request: { originalUrl, headers } }: Exchange): Options => {
  const query: { readonly readonly?: string; readonly toolsets?: string } = parseQuery(originalUrl.replace(/^[^?]*\??/, ''));
  const own = { 'X-MCP-Readonly': headers['x-mcp-readonly'], 'X-MCP-Toolsets': headers['x-mcp-toolsets'] } as {
    readonly 'X-MCP-Readonly'?: string;
    readonly 'X-MCP-Toolsets'?: string;
  };
  const inQuery = checkQuery({ ...query });
  if (inQuery.length > 0) throw httpErrors.invalid('query', inQuery);
  const inHeaders = checkHeaders({ ...own });
  if (inHeaders.length > 0) throw httpErrors.invalid('headers', inHeaders);
  return {
    readOnly: isOn(query.readonly) || isOn(own['X-MCP-Readonly']),
    toolsets: query.toolsets ?? own['X-MCP-Toolsets'] ?? '',
  };
};

const known = /^[a-z][\w/]{0,63}$/i;

const askedIn = (body: unknown): Asked => {
  if (typeof body !== 'object' || body === null) return { method: 'unknown' };
  const { method, params } = body as { readonly method?: unknown; readonly params?: { readonly name?: unknown } | null };
  if (typeof method !== 'string' || !known.test(method)) return { method: 'unknown' };
  const name = method === 'tools/call' ? params?.name : undefined;
  return { method, ...(typeof name === 'string' && known.test(name) && { tool: name }) };
};

/** Without the credential: the program needs none. */
const webRequest = ({ request }: Exchange, url: string, body: Buffer, signal: AbortSignal): Request => {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(request.headersDistinct)) {
    if (name !== 'authorization' && name !== 'cookie') for (const value of values) headers.append(name, value);
  }
  return new Request(url, { method: 'POST', headers, body, signal });
};

const isGone = ({ destroyed }: Exchange['response']): boolean => destroyed;

const drained = (response: Exchange['response']): Promise<void> =>
  new Promise((resolve) => {
    const goOn = (): void => {
      response.off('drain', goOn).off('close', goOn);
      resolve();
    };
    response.on('drain', goOn).on('close', goOn);
  });
