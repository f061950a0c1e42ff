import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { request as requestHttp, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Readable } from 'node:stream';
import { ProviderFault } from '../../integrations/fault.js';
import type { Clock } from '../../platform/clock.js';
import { isPublicAddress } from '../../platform/publicAddress.js';
import { parseUrl } from '../../platform/urls.js';

/** What was found at an address, after redirects. */
export interface Fetched {
  /** Where it was found. */
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty for anything but text. */
  readonly text: string;
  /** Whether there is more of it than was read. */
  readonly truncated: boolean;
}

/**
 * Gets a page over HTTP, from the public Internet only.
 * @throws ProviderFault, transient when another attempt may do better
 */
export type FetchPage = (url: string, signal: AbortSignal) => Promise<Fetched>;

export interface FetchParts {
  readonly clock: Clock;
  /** Where a site that is served by this service is reached from here; null for every other address. */
  readonly servedSiteUrl: (url: URL) => URL | null;
  /** All addresses of a name. Default: as the system finds them. */
  readonly resolve?: (hostname: string) => Promise<readonly LookupAddress[]>;
  /** Which addresses may be asked. */
  readonly isPublic?: (address: string) => boolean;
}

export const userAgent = 'DoorstepBot';
const TIMEOUT_MS = 10_000;
const MOST_REDIRECTS = 5;
const MOST_BYTES = 2 * 1_024 * 1_024;
const MOST_HEADERS = 32 * 1_024;
const provider = 'website';

const fault = (message: string, transient: boolean, cause?: unknown): ProviderFault =>
  new ProviderFault({ provider, message, transient, cause });

/** Not to be asked, whatever it is that leads there. */
class Forbidden extends Error {}

const forbidden = (host: string): Forbidden => new Forbidden(`${host} is not an address of the public Internet`);

export const createFetchPage = (parts: FetchParts): FetchPage => {
  const { clock, servedSiteUrl, resolve = resolveBySystem, isPublic = isPublicAddress } = parts;
  /**
   * The connection is made to the very addresses that were looked at: a name that answers differently the next time it is asked leads
   * nowhere else.
   */
  const checkedLookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined || !addresses.every(({ address }) => isPublic(address))) {
          callback(forbidden(hostname), '', 0);
        } else if (options.all === true) {
          callback(null, [...addresses]);
        } else {
          callback(null, first.address, first.family);
        }
      },
      (error: unknown) => {
        callback(error as NodeJS.ErrnoException, '', 0);
      },
    );
  };

  const open = (url: URL, signal: AbortSignal): Promise<IncomingMessage> => {
    const local = servedSiteUrl(url);
    const target = local ?? url;
    if (!/^https?:$/.test(target.protocol) || target.username !== '' || target.password !== '') throw forbidden(url.host);
    const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
    // What is an address already is looked up nowhere.
    if (local === null && isIP(host) !== 0 && !isPublic(host)) throw forbidden(url.host);
    const options: RequestOptions = {
      signal,
      agent: false,
      maxHeaderSize: MOST_HEADERS,
      headers: {
        'user-agent': `Mozilla/5.0 (compatible; ${userAgent}/1.0)`,
        accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5',
        'accept-encoding': 'gzip, deflate, br',
      },
      ...(local === null && { lookup: checkedLookup }),
    };
    return new Promise((resolveWith, reject) => {
      const send = target.protocol === 'https:' ? requestHttps : requestHttp;
      send(target, options, resolveWith).on('error', reject).end();
    });
  };

  const follow = async (start: string, signal: AbortSignal): Promise<Fetched> => {
    let url = new URL(start);
    for (let redirects = 0; ; redirects += 1) {
      const response = await open(url, signal);
      const { statusCode: status = 0, headers } = response;
      const { location } = headers;
      if (location === undefined || ![301, 302, 303, 307, 308].includes(status)) {
        return { url: url.href, status, headers, ...(await readText(response)) };
      }
      response.destroy();
      if (redirects === MOST_REDIRECTS) throw fault(`${start} redirects too often`, false);
      const next = parseUrl(location, url.href);
      if (next === undefined) throw fault(`${start} redirects to something that is no address`, false);
      url = next;
    }
  };

  return async (url, signal) => {
    const abort = new AbortController();
    const give = (): void => {
      abort.abort();
    };
    const cancel = clock.schedule(TIMEOUT_MS, give);
    signal.addEventListener('abort', give);
    if (signal.aborted) give();
    try {
      return await follow(url, abort.signal);
    } catch (error) {
      if (error instanceof ProviderFault) throw error;
      const { cause = error } = error as { cause?: unknown };
      if (error instanceof Forbidden || cause instanceof Forbidden) throw fault((cause as Error).message, false, error);
      if (abort.signal.aborted) throw fault(`${url} does not answer in time`, true, error);
      throw fault(`${url} cannot be reached`, true, error);
    } finally {
      cancel();
      signal.removeEventListener('abort', give);
    }
  };
};

const resolveBySystem = (hostname: string): Promise<LookupAddress[]> => lookup(hostname, { all: true });

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** As much as is wanted, counted after it was unpacked: a little can be packed that is a lot. */
const readText = async (response: IncomingMessage): Promise<Pick<Fetched, 'text' | 'truncated'>> => {
  const { 'content-type': type = '', 'content-encoding': encoding = '' } = response.headers;
  if (!/^(?:text\/|application\/(?:[\w.-]+\+)?xml|application\/xhtml)/i.test(type)) {
    response.destroy();
    return { text: '', truncated: false };
  }
  const decode = decoders[encoding.toLowerCase()];
  const stream: Readable = decode === undefined ? response : (response.pipe(decode()) as unknown as Readable);
  response.on('error', (error) => stream.destroy(error));
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MOST_BYTES) break;
    }
  } finally {
    response.destroy();
    stream.destroy();
  }
  const charset = /charset=["']?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8';
  return { text: textOf(Buffer.concat(chunks).subarray(0, MOST_BYTES), charset), truncated: bytes >= MOST_BYTES };
};

const textOf = (bytes: Uint8Array, charset: string): string => {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // A name that is no character set.
  }
};
