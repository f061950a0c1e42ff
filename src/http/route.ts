import { Type, type Static, type TObject, type TSchema } from 'typebox';
import type { CommandContext, HandleOptions } from '../commands/handleCommand.js';
import type { Refusal, RefusalCode, Violation } from '../commands/refusal.js';
import type { Engine } from '../engine.js';
import type { Feature } from '../events/website/website.events.js';
import type { Caller, WebsiteAccess } from './auth/caller.js';
import type { HttpRefusalCode } from './errors.js';
import type { FaultCode } from './faults.js';
import type { StoredContent } from '../platform/measuredContent.js';
import type { ByteRange, FileStore } from '../integrations/files/port.js';
import type { Reader } from '../projections/reader.js';
import type { Readable } from 'node:stream';
import { listQuery, type Listing, type ListQuery } from './paging.js';

/**
 * A route is a value: the router, the authorisation, the validation, the OpenAPI document and the
 * generated tests all derive from the list of them (`http/routes/index.ts`).
 */
export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With `:name` for parameters, as clients of the portal see it (no `/v1`). */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tag: RouteTag;
  /**
   * `website`: it is about the website that the path parameter `id` names, which is loaded first:
   * an unknown one is answered with 404.
   */
  readonly scope: 'installation' | 'website';
  readonly access: AccessRule;
  /** The website must have it enabled. */
  readonly feature?: Feature;
  /**
   * An archived website refuses every write (400 `Website <id> is archived`) but those that say
   * otherwise.
   */
  readonly whenArchived?: 'allowed';
  /**
   * `honoured`: its `act` decides at the revision in `expectation`. Any other write refuses the
   * header.
   */
  readonly ifMatch?: 'honoured';
  /** Schemas of path parameters; of one that has none here, any text of up to 200 characters. */
  readonly params?: Readonly<Record<string, TSchema>>;
  readonly query?: TObject;
  /**
   * It answers with a list in pages, and its query has `limit` and `cursor`, and what the listing
   * says.
   */
  readonly paging?: true | Listing;
  /** Present: a body is required. */
  readonly body?: TObject;
  /**
   * Present: the body is taken as it was sent, with these headers; the handler checks all of them.
   */
  readonly raw?: TObject;
  /**
   * Present: the body is `multipart/form-data` with one part `file`, which is stored before `act` is
   * called, and `body` says which text fields come with it.
   */
  readonly upload?: UploadDefinition;
  /**
   * Refuses by the headers alone, before the body is read.
   * @throws Refused, HttpFault
   */
  readonly checkHead?: (header: RouteRequest['header']) => void;
  /**
   * Hand-written checks of a body that is an object, whose words come before the schema's (website
   * creation: `name is required`); `violations` are the schema's.
   */
  readonly precheck?: (body: Readonly<Record<string, unknown>>, violations: readonly Violation[]) => Promise<Refusal | null>;
  /**
   * Those that it gives beside the ones that follow from the rest of its definition
   * (`refusals.ts`).
   */
  readonly refusals?: readonly RouteRefusalCode[];
  /** An outside service is asked while the caller waits: it may refuse, be late or be away. */
  readonly asksProvider?: boolean;
  /** Faults of this route alone. */
  readonly faults?: readonly FaultCode[];
  /** What the OpenAPI document says of it in more words than `summary`; in Markdown. */
  readonly description?: string;
  /**
   * For the OpenAPI document; each is sent by a test. Default: the required fields of the body, and
   * those that have `examples`.
   */
  readonly example?: { readonly query?: Readonly<Record<string, string | number>>; readonly body?: object };
  /** Every write may be tried with `?dryRun=1`, and repeated with `Idempotency-Key` unless public. */
  readonly answers: Readonly<Record<number, AnswerDefinition>>;
  /**
   * Answered even when there is too much to do: otherwise the service would be restarted for being
   * busy.
   */
  readonly vital?: boolean;
  /**
   * Pages of any origin may read the answer: it is public, and the same for everybody. Others are
   * read by the origins of `CORS_ORIGINS`.
   */
  readonly openToOrigins?: boolean;
  /** Not part of the API: left out of the OpenAPI document. */
  readonly hidden?: boolean;
  /**
   * A write's decision. A dry run calls it with an engine that writes nothing and answers with what
   * was planned, so it may write by `engine` alone. Absent: the route decides nothing.
   */
  readonly act?: (request: RouteRequest, engine: Engine) => Promise<unknown>;
  /**
   * What the caller gets. After an `act` it comes with its result, once that is durable: it reads
   * what was written, and asks providers for what was decided. A dry run does not call it.
   */
  readonly answer: (request: RouteRequest, result: unknown) => Promise<Answer>;
}

/** A file that came with a request. */
export interface Upload extends StoredContent {
  /** Under which it is stored; empty in a dry run. */
  readonly key: string;
  /** As its sender calls it, cleaned. */
  readonly fileName: string;
  /** By its first bytes. */
  readonly contentType: string;
}

/** What a route does with a file. Its scope is a website. */
export interface UploadDefinition {
  readonly files: FileStore;
  /**
   * Asked before the body is read, with the bytes that the file can have at least as it is announced.
   * @throws Refused
   */
  readonly admit: (websiteId: string, bytes: number) => Promise<void>;
}

export interface ServerSentEvent {
  readonly event?: string;
  readonly id?: string;
  readonly data: unknown;
}

export interface AnswerDefinition {
  readonly description: string;
  readonly schema?: TSchema;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Other types that the caller may ask for by `Accept`, each with an example. */
  readonly alternatives?: Readonly<Record<string, string>>;
  /** It is sent in parts, without an `ETag`. */
  readonly inParts?: true;
  /** What the headers that are this answer's own say, by their names. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type RouteRefusalCode = RefusalCode | HttpRefusalCode;

/** A group of routes in the OpenAPI document. */
export interface RouteTag {
  readonly name: string;
  readonly description: string;
}

/**
 * Who may call. All but `public`, `signedIn` and `admin` are rules of a website:
 * - `public`: nobody is asked who they are
 * - `signedIn`: any caller; the handler decides further
 * - `admin`
 * - `members`: admin, owner, linked editor, linked viewer
 * - `adminOrOwner`
 * - `editors`: admin, owner, linked editor (a viewer gets 401 `Editor role required`)
 * - `owner`: the owner only
 * - `handover`: admin, owner, and the person to whom the transfer that the path names
 *   (`transferId`) is offered
 */
export type AccessRule = 'public' | 'signedIn' | 'admin' | 'members' | 'adminOrOwner' | 'editors' | 'owner' | 'handover';

export interface RouteRequest<Params = Record<string, string>, Query = Record<string, unknown>, Body = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The body as it was sent, on routes that take it so. */
  readonly raw: Uint8Array;
  /** The file, on routes that take one. It is removed again unless `act` keeps it. */
  readonly upload: Upload;
  /** The file is what the command has recorded, and stays. */
  readonly keepUpload: () => void;
  /** The value of a header that may be there once, by its name in lower case. */
  readonly header: (name: string) => string | undefined;
  /** Which of these types the caller would rather have, by `Accept`; `undefined`: none of them. */
  readonly accepts: (types: readonly string[]) => string | undefined;
  /** Reads as of the moment at which the caller was let in: not for what an answer sends later, as it goes on. */
  readonly reader: Reader;
  /** Absent on `public` routes only. */
  readonly caller: Caller;
  /** The admin that asks, when the answer is the one that `caller` would get. */
  readonly viewer: Caller | undefined;
  /** Present on routes whose scope is a website. */
  readonly website: WebsiteAccess;
  readonly context: CommandContext;
  /**
   * 64 random bytes for a secret that the command makes: the same again when the command is
   * repeated.
   */
  readonly secret: Uint8Array;
  /**
   * `expectedRevision` is the revision that `If-Match` names; `mustExist` stands for `If-Match: *`.
   * Neither is there without the header.
   */
  readonly expectation: HandleOptions;
  /** Aborted when the client has gone, and for server-sent events when the service stops. */
  readonly signal: AbortSignal;
}

export interface Answer {
  /** Default 200; a body-less 204. */
  readonly status?: number;
  /** JSON, or bytes to be sent as they are, with their `content-type` among the headers. */
  readonly body?: unknown;
  /**
   * Revision of the resource: it becomes part of the `ETag`, and what `If-Match` is compared with.
   */
  readonly revision?: bigint;
  /**
   * With 201: the path of what was made, as portal traffic writes it. Default: the path of the
   * request, after a POST followed by the `id` in the body.
   */
  readonly location?: string;
  /** Lists: the cursor of the next page, sent as a `Link` header. */
  readonly next?: string | undefined;
  /** Lists: how many there are on all pages, sent as `Total-Count`. */
  readonly total?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Of a write whose body has `PersonalText`: these texts as events hold them, those of people
   * encrypted. An answer that shows another is not stored for its `Idempotency-Key`.
   */
  readonly people?: readonly string[];
  /** Sent as it is read, instead of a body; `Range` is answered with a part of it. */
  readonly content?: StreamedContent;
  /**
   * Server-sent events instead of a body; ends with the iterable. The caller is checked again
   * before each batch is sent, and the answer ends when they may not read it any more, or as another.
   */
  readonly events?: AsyncIterable<readonly ServerSentEvent[]>;
  /**
   * A body in parts, for one that is too long to be in memory at once, with its `content-type` among
   * the headers. The caller is checked again before each is sent.
   */
  readonly parts?: AsyncIterable<string | Uint8Array>;
}

/** The content of a file; the answer's headers have its `content-type`. */
export interface StreamedContent {
  /** Of the whole file. */
  readonly bytes: number;
  /** Opens the content, or a part of it. */
  readonly open: (range?: ByteRange) => Promise<Readable>;
}

/** Of a write after which there is nothing to say. */
export const noContent = (): Promise<Answer> => Promise.resolve({ status: 204 });

type ParamOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

type StaticOr<Schema, Fallback> = Schema extends TSchema ? Static<Schema> : Fallback;

type RequestOf<Path extends string, Query, Paging, Body> = RouteRequest<
  Readonly<Record<ParamOf<Path>, string>>,
  StaticOr<Query, unknown> & (Paging extends true | Listing ? ListQuery : unknown),
  StaticOr<Body, undefined>
>;

/**
 * Defines a route: the types of path parameters are inferred from the path, those of query and body
 * from their schemas, and the result of `act` from itself.
 */
export const route = <
  const Path extends string,
  Query extends TObject | undefined = undefined,
  const Paging extends true | Listing | undefined = undefined,
  Body extends TObject | undefined = undefined,
  Result = undefined,
>(
  definition: Omit<Route, 'path' | 'params' | 'query' | 'paging' | 'body' | 'act' | 'answer'> & {
    readonly path: Path;
    readonly params?: Partial<Readonly<Record<ParamOf<Path>, TSchema>>>;
    readonly query?: Query;
    readonly paging?: Paging;
    readonly body?: Body;
    readonly act?: (request: RequestOf<Path, Query, Paging, Body>, engine: Engine) => Promise<Result>;
    readonly answer: (request: RequestOf<Path, Query, Paging, Body>, result: Result) => Promise<Answer>;
  },
): Route => {
  const { query, paging } = definition;
  const whole = paging === undefined ? query : Type.Object({ ...listQuery(paging === true ? {} : paging), ...query?.properties });
  return { ...definition, ...(whole !== undefined && { query: whole }) } as unknown as Route;
};
