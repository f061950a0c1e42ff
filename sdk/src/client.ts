import createClient, { createQuerySerializer } from 'openapi-fetch';
import { Call, List, Paged, type Answer } from './call.js';
import { ConnectionError, DoorstepError, errorFor, TimeoutError } from './errors.js';
import { follow, type ServerSentEvent, type WatchOptions } from './eventStream.js';
import { abortErrorOf, delayBefore, isLimit, isTemporary, throwIfAborted, wait } from './retry.js';
import type { Defaults, ParseAs, RequestOptions } from './types.js';
import { isBrowser, randomId } from './platform.js';
import { openFile, type Content, type UploadBody, type UploadOptions } from './upload.js';

const defaultTimeoutMs = 60_000;
const defaultUploadTimeoutMs = 600_000;
const defaultRetries = 2;

/** Gives a token: the same one each time, or one that is renewed meanwhile. */
export type TokenSource = () => string | Promise<string>;

export interface DoorstepOptions extends Defaults {
  /** Where the service is: `https://doorstep.example.com`. */
  readonly baseUrl: string;
  /**
   * A personal access token (`svc_pat_…`), or a function that gives one or, in the portal, an access
   * token of the identity provider. It is asked before each attempt.
   */
  readonly token: string | TokenSource;
  /** Sends the requests; `init` holds the signal that stops it. Default: the global `fetch`. */
  readonly fetch?: ((request: Request, init: RequestInit) => Promise<Response>) | undefined;
  /** Called before a wait, in ms, after which a failed attempt is repeated: for programs that say why nothing happens. */
  readonly onRetry?: ((error: DoorstepError, delayMs: number) => unknown) | undefined;
  /** Stands before the SDK's own in `User-Agent`. Browsers send theirs. */
  readonly userAgent?: string | undefined;
}

/** What goes into a request beside the parts of its path. */
interface Input {
  readonly query?: object | undefined;
  /** Goes before `query`, without what that sets anew. */
  readonly search?: URLSearchParams;
  readonly body?: unknown;
  readonly headers?: object | undefined;
  /** The only type that the answer may have. */
  readonly type?: string;
}

interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly search: string;
  readonly headers: Headers;
  readonly type: string | undefined;
  readonly content: () => Content;
  readonly parseAs: ParseAs;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly maxRetries: number;
}

/** The part of openapi-fetch that is used: types are given by the callers of `Client`. */
interface Fetcher {
  request(method: string, path: string, init: object): Promise<{ data?: unknown; error?: unknown; response: Response }>;
}

/** Sends requests: with the token, repeated where that helps, as results or errors. */
export class Client {
  readonly #baseUrl: string;
  readonly #token: string | TokenSource;
  readonly #userAgent: string;
  readonly #onRetry: DoorstepOptions['onRetry'];
  readonly #defaults: Defaults;
  readonly #fetch: NonNullable<DoorstepOptions['fetch']>;
  readonly #fetcher: Fetcher;

  constructor({
    baseUrl,
    token,
    fetch = (request, init) => globalThis.fetch(request, init),
    userAgent,
    onRetry,
    ...defaults
  }: DoorstepOptions) {
    if (typeof token !== 'function' && !token) {
      throw new TypeError('`token` is missing: set a personal access token (svc_pat_…), or a function that gives one');
    }
    this.#baseUrl = addressOf(baseUrl);
    this.#token = token;
    this.#userAgent = `${userAgent === undefined ? '' : `${userAgent} `}doorstep-sdk`;
    this.#onRetry = onRetry;
    this.#defaults = defaults;
    this.#fetch = fetch;
    this.#fetcher = createClient({ bodySerializer: (body) => body }) as unknown as Fetcher;
  }

  /** A request with one answer. */
  call<T>(
    method: string,
    path: string,
    params: object,
    input: Input,
    options?: RequestOptions,
    parseAs: ParseAs = 'json',
  ): Call<T> {
    return new Call(this.#send<T>(method, path, params, input, options, parseAs));
  }

  /** A list that comes in pages. */
  list<T>(path: string, params: object, query: object | undefined, options?: RequestOptions): List<T> {
    return new List((asked) => this.#send<T[]>('GET', path, params, { query: asked }, options, 'json'), { ...query });
  }

  /** Something else that comes in pages. */
  paged<T>(path: string, params: object, query: object | undefined, options?: RequestOptions): Paged<T> {
    return new Paged((asked) => this.#send<T>('GET', path, params, { query: asked }, options, 'json'), { ...query });
  }

  /** Server-sent events: their data, or each whole. */
  stream<T>(
    path: string,
    params: object,
    query: object | undefined,
    options: WatchOptions | undefined,
    what: 'data' | 'event',
  ): AsyncGenerator<T, void, undefined> {
    return follow(
      (connection) =>
        this.#send('GET', path, params, { query, type: 'text/event-stream' }, { ...options, ...connection }, 'stream'),
      options,
      (event: ServerSentEvent) => (what === 'data' ? event.data : event) as T,
    );
  }

  /** A file with fields beside it. */
  upload<T>(path: string, params: object, body: UploadBody, options: UploadOptions = {}): Call<T> {
    const send = async (): Promise<Answer<T>> => {
      const timeoutMs = options.timeoutMs ?? this.#defaults.timeoutMs ?? defaultUploadTimeoutMs;
      const outgoing = this.#prepare('POST', path, params, {}, { ...options, timeoutMs }, 'json');
      const { content, isRepeatable, end } = await openFile(body, options.onProgress);
      const answer = await this.#attempts<T>({ ...outgoing, content, ...(!isRepeatable && { maxRetries: 0 }) });
      end();
      return answer;
    };
    return new Call(send());
  }

  /** The answer in a type that is asked for, as it is sent. */
  export(
    path: string,
    params: object,
    query: object | undefined,
    type: string,
    options?: RequestOptions,
  ): Call<ReadableStream<Uint8Array>> {
    return this.call('GET', path, params, { query, type }, options, 'stream');
  }

  async #send<T>(
    method: string,
    path: string,
    params: object,
    input: Input,
    options: RequestOptions | undefined,
    parseAs: ParseAs,
  ): Promise<Answer<T>> {
    return this.#attempts(this.#prepare(method, path, params, input, options, parseAs));
  }

  #prepare(
    method: string,
    path: string,
    params: object,
    { query, search, body, headers: inputHeaders, type }: Input,
    { as, dryRun, idempotencyKey, ifMatch, ifNoneMatch, headers: ownHeaders, ...options }: RequestOptions = {},
    parseAs: ParseAs,
  ): Outgoing {
    const headers = new Headers({ ...inputHeaders, ...ownHeaders });
    if (type !== undefined) headers.set('accept', type);
    if (!isBrowser) headers.set('user-agent', this.#userAgent);
    if (ifMatch !== undefined) headers.set('if-match', ifMatch);
    if (ifNoneMatch !== undefined) headers.set('if-none-match', ifNoneMatch);
    if (method !== 'GET' && dryRun !== true) {
      headers.set('idempotency-key', idempotencyKey ?? headers.get('idempotency-key') ?? randomId());
    }
    const sent = body === undefined || body instanceof FormData ? body : JSON.stringify(body);
    const {
      timeoutMs = defaultTimeoutMs,
      maxRetries = defaultRetries,
      signal,
    } = { ...defined(this.#defaults), ...defined(options) };
    return {
      method,
      path,
      params: checked(path, params),
      search: searchOf({ ...query, ...(as !== undefined && { as }), ...(dryRun === true && { dryRun: '1' }) }, search),
      headers,
      type,
      content: () => (sent === undefined ? {} : { body: sent }),
      parseAs,
      signal,
      timeoutMs,
      maxRetries,
    };
  }

  async #attempts<T>(request: Outgoing): Promise<Answer<T>> {
    for (let retries = 0; ; retries += 1) {
      try {
        return await this.#attempt(request);
      } catch (error) {
        const delay = retries < request.maxRetries && isTemporary(error) ? delayBefore(retries, error.headers) : undefined;
        if (delay === undefined) throw error;
        this.#onRetry?.(error as DoorstepError, delay);
        await wait(delay, request.signal);
      }
    }
  }

  /** Ends with the answer's body, with the time limit or with the caller's signal, whichever is first. */
  async #attempt<T>(request: Outgoing): Promise<Answer<T>> {
    const { signal, timeoutMs, parseAs } = request;
    throwIfAborted(signal);
    const controller = new AbortController();
    let abort = (): void => undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stopped = new Promise<never>((_, reject) => {
      const stop = (error: DoorstepError): void => {
        reject(error);
        controller.abort(error);
      };
      abort = () => {
        stop(abortErrorOf(signal));
      };
      signal?.addEventListener('abort', abort);
      if (isLimit(timeoutMs)) {
        timer = setTimeout(() => {
          stop(new TimeoutError(`The service did not answer within ${String(timeoutMs)} ms`));
        }, timeoutMs);
      }
    });
    let isOpen = false;
    try {
      const answer = await Promise.race([this.#exchange<T>(request, controller.signal), stopped]);
      isOpen = parseAs === 'stream';
      return answer;
    } finally {
      clearTimeout(timer);
      // A stream goes on, and is stopped by the signal.
      if (!isOpen) signal?.removeEventListener('abort', abort);
    }
  }

  async #exchange<T>(
    { method, path, params, search, headers, type, content, parseAs }: Outgoing,
    signal: AbortSignal,
  ): Promise<Answer<T>> {
    const token = typeof this.#token === 'string' ? this.#token : await this.#token();
    // Said here, because `Headers` would say it with the token.
    if (!/^[\x21-\x7e]+$/.test(token)) throw new DoorstepError('The token is empty, or has characters that no token has');
    const isPersonal = typeof this.#token === 'string' || token.startsWith('svc_pat_');
    const authorized = new Headers(headers);
    authorized.set('authorization', `Bearer ${token}`);
    const { body, contentType, fault } = content();
    if (contentType !== undefined) authorized.set('content-type', contentType);
    const progress = { isSent: false };
    try {
      const { error, response } = await this.#fetcher.request(method, path, {
        baseUrl: `${this.#baseUrl}${isPersonal ? '/v1' : ''}`,
        params: { path: params },
        querySerializer: () => search,
        body,
        // A stream cannot be sent in another way.
        ...(body instanceof ReadableStream && { duplex: 'half' }),
        headers: authorized,
        // Followed, a write becomes a read: what it answers is of something else.
        redirect: method === 'GET' ? 'follow' : 'manual',
        parseAs: 'stream',
        // Given to `fetch` itself: Node.js forgets the signal of a request that nobody holds any more.
        fetch: (request: Request) => {
          progress.isSent = true;
          return this.#fetch(request, { signal });
        },
      });
      if (!response.ok && response.status !== 304) throw errorFor(response, error === '' ? undefined : error);
      const data = response.status === 304 ? undefined : await bodyOf(response, parseAs, type);
      return { data: data as T, response, requestId: response.headers.get('x-request-id') ?? undefined };
    } catch (error) {
      // What cannot be sent, such as a GET with a body, is the program's mistake: it would fail again.
      if (error instanceof DoorstepError || !progress.isSent) throw error;
      const ownFault = fault?.();
      if (ownFault !== undefined) throw ownFault;
      throw new ConnectionError(`The connection to ${new URL(this.#baseUrl).host} failed: ${reasonOf(error)}`, undefined, {
        cause: error,
      });
    }
  }
}

/**
 * The address that paths of the API are appended to: without a slash, `/v1` or a query at its end.
 * @throws TypeError
 */
const addressOf = (baseUrl: string): string => {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError('`baseUrl` is no address: write it as https://doorstep.example.com');
  }
  // No request can be made with them, and its fault would say the password.
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('`baseUrl` must not hold a user name or a password: the token says who calls');
  }
  return (url.origin + url.pathname).replace(/\/*(\/v1\/*)?$/, '');
};

const defined = <T extends object>(values: T): T =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;

const serializeQuery = createQuerySerializer({ array: { style: 'form', explode: false } });

const searchOf = (query: Readonly<Record<string, unknown>>, given?: URLSearchParams): string => {
  const others = new URLSearchParams(given);
  for (const name of Object.keys(defined(query))) others.delete(name);
  // The serializer takes a `Date` for an object without fields, and leaves it out: all would be listed.
  const written = Object.entries(query).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value]);
  return [others.toString(), serializeQuery(Object.fromEntries(written))].filter((part) => part !== '').join('&');
};

/** A missing or empty part, or one of dots, would make the path another one. */
const checked = (path: string, params: object): Readonly<Record<string, unknown>> => {
  const parts = params as Readonly<Record<string, unknown>>;
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
    const value = String((parts[name] as string | number | null | undefined) ?? '');
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`\`${name}\` must not be "${value}"`);
  }
  return parts;
};

const kindOf = (type: string): ParseAs => {
  if (/[/+]json\b/.test(type)) return 'json';
  return type === '' || /^text\/|ndjson/.test(type) ? 'text' : 'blob';
};

const bodyOf = async (response: Response, parseAs: ParseAs, wanted: string | undefined): Promise<unknown> => {
  const type = response.headers.get('content-type') ?? '';
  if (parseAs === 'stream') {
    if (response.status === 204) return null;
    // A page in its place would be followed for ever, or kept as the file.
    if (wanted !== undefined && type !== '' && !type.toLowerCase().startsWith(wanted)) {
      await response.body?.cancel();
      throw notOfType(wanted, type, response, undefined);
    }
    return response.body;
  }
  const as = parseAs === 'auto' ? kindOf(type) : parseAs;
  if (as === 'blob') return response.blob();
  const text = await response.text();
  if (text === '') return undefined;
  if (as !== 'json') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw notOfType('JSON', type, response, text);
  }
};

const notOfType = (asked: string, type: string, { status, headers }: Response, body: unknown): DoorstepError =>
  new DoorstepError(`The answer is not ${asked}, but ${type || 'without a type'}: is the service at this address?`, {
    status,
    body,
    headers,
  });

/** What lies beneath `fetch failed`: undici tells the reason as its cause, which has a code alone when it is several. */
const reasonOf = (error: unknown): string => {
  const { message, cause } = error as { message?: string; cause?: { message?: string; code?: string } };
  const reason = [cause?.message, cause?.code, message].find((text) => text !== undefined && text !== '') ?? String(error);
  // OpenSSL puts where it stands in its source around what is wrong.
  return reason.replace(/^[0-9A-F]+:error:[^:]*:[^:]*:[^:]*:([^:]*):.*$/s, 'TLS: $1');
};
