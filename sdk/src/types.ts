import type { FetchOptions } from 'openapi-fetch';
import type { paths } from './generated/schema.js';

/** Options of a client that each call may set for itself. */
export interface Defaults {
  /**
   * How long one attempt may take, its body included, in ms; 0: without end. Default: 60,000; for
   * uploads 600,000. A stream may take this long to begin.
   */
  readonly timeoutMs?: number | undefined;
  /** How often a failed attempt is repeated. Default: 2. */
  readonly maxRetries?: number | undefined;
}

/** Options of one call. */
export interface RequestOptions extends Defaults {
  /** Stops the call, and the waiting between its attempts, with an `AbortError`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Writes: calls with the same key have one effect within 24 hours, and get the first answer. Default:
   * a new one for each call, the same for all its attempts.
   */
  readonly idempotencyKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Writes: the `ETag` of the state that the change is meant for. A stale one is refused with 400. */
  readonly ifMatch?: string | undefined;
  /**
   * Reads: an `ETag` that was read before. While it is the current one, the result is `undefined`, and
   * `response.status` of `.withResponse()` is 304.
   */
  readonly ifNoneMatch?: string | undefined;
  /** Writes: checks everything and writes nothing; the result says what would have been written. */
  readonly dryRun?: boolean | undefined;
  /** Reads, admins only: the address of the person whose answer this shall be. It is noted in the audit. */
  readonly as?: string | undefined;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The paths of the API that have the method. */
export type PathWith<M extends Method> = {
  [Path in keyof paths]: NonNullable<paths[Path][Lowercase<M>]> extends never ? never : Path;
}[keyof paths];

type OperationAt<M extends Method, Path extends keyof paths> = NonNullable<paths[Path][Lowercase<M>]>;

/** How the body of an answer is given; `auto`: as its type says. */
export type ParseAs = 'json' | 'text' | 'blob' | 'stream' | 'auto';

type RawOptions<Operation> = Pick<FetchOptions<Operation>, keyof FetchOptions<Operation> & ('params' | 'body')> &
  RequestOptions & { readonly parseAs?: ParseAs | undefined };

/** What `request` takes: parameters, body and options. */
export type RawArguments<M extends Method, Path extends keyof paths> =
  object extends RawOptions<OperationAt<M, Path>>
    ? [init?: RawOptions<OperationAt<M, Path>>]
    : [init: RawOptions<OperationAt<M, Path>>];

/** What `request` gives. `undefined` where there is no body. */
export type RawResult<M extends Method, Path extends keyof paths> = ResultOf<OperationAt<M, Path>>;

type SuccessStatus = 200 | 201 | 202 | 204;

type ResultOf<Operation> = Operation extends { responses: infer Responses }
  ? { [Status in keyof Responses & SuccessStatus]: AnswerOf<Responses[Status]> }[keyof Responses & SuccessStatus]
  : never;

type AnswerOf<Response> = Response extends { content: infer Content }
  ? Content extends { 'application/json': infer Json }
    ? Json
    : {
        [Type in keyof Content]: Type extends `${string}+json` ? never : Type extends `text/${string}` ? string : Blob;
      }[keyof Content]
  : undefined;
