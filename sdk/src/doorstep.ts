import type { Call } from './call.js';
import { Client, type DoorstepOptions } from './client.js';
import { FindableWebsites } from './find.js';
import { Resources } from './generated/resources.js';
import type { Method, ParseAs, PathWith, RawArguments, RawResult, RequestOptions } from './types.js';

/**
 * A Doorstep service, with the rights of a token.
 *
 * @example
 * ```ts
 * const doorstep = new Doorstep({ baseUrl: 'https://doorstep.example.com', token: process.env.DOORSTEP_TOKEN ?? '' });
 * ```
 */
export class Doorstep extends Resources {
  override readonly websites = new FindableWebsites(this._client);

  /** @throws TypeError when `baseUrl` or `token` is missing */
  constructor(options: DoorstepOptions) {
    super(new Client(options));
  }

  /**
   * Any operation of the API by its path, with the token, the retries and the errors of the other methods.
   *
   * @example
   * ```ts
   * const website = await doorstep.request('GET', '/websites/{id}', {
   *   params: { path: { id: '01m8209kq7nsjmd7c7ae53aqtg' } },
   * });
   * ```
   */
  request<M extends Method, Path extends PathWith<M>>(
    method: M,
    path: Path,
    ...init: RawArguments<M, Path>
  ): Call<RawResult<M, Path>>;
  /** A path that is put together when the program runs, with its query or without: what it answers is `unknown`. */
  request(method: string, path: string, init?: AnyInit): Call<unknown>;
  request(method: string, path: string, { params = {}, body, parseAs = 'auto', ...options }: AnyInit = {}): Call<unknown> {
    // Behind the address of the service, something else could lead to another host.
    if (!path.startsWith('/')) throw new TypeError('`path` must begin with /');
    const [place = '', ...search] = path.split('?');
    const { path: parts = {}, query, header: headers } = params;
    const input = { search: new URLSearchParams(search.join('?')), query, body, headers };
    return this._client.call(method.toUpperCase(), place, parts, input, options, parseAs);
  }
}

/** Of a request whose path is not known before. */
export interface AnyInit extends RequestOptions {
  readonly params?: { readonly path?: object; readonly query?: object; readonly header?: object };
  /** Sent as JSON, or a form. */
  readonly body?: unknown;
  /** How the body of the answer is given. Default: `auto`. */
  readonly parseAs?: ParseAs | undefined;
}
