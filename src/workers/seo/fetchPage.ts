import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Readable } from 'node:stream';
import { ProviderFault } from '../../integrations/fault.js';
import { createPublicRequest, forbiddenAddressOf, type PublicRequestParts } from '../../integrations/publicRequest.js';
import type { Clock } from '../../platform/clock.js';
import { parseUrl } from '../../platform/urls.js';

/** The response to a request, after redirects. */
export interface Fetched {
  /** The address after redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Each `X-Robots-Tag`, since the name of a crawler in one is not for the next; `headers` has them joined. */
  readonly robotsRules: readonly string[];
  /** Empty for content that is not text. */
  readonly text: string;
  /** Whether only the beginning was read. */
  readonly truncated: boolean;
}

/**
 * Loads a page over HTTP, from the public Internet only.
 * @throws ProviderFault, transient when another attempt may succeed
 */
export type FetchPage = (url: string, signal: AbortSignal) => Promise<Fetched>;

export interface FetchParts extends PublicRequestParts {
  readonly clock: Clock;
}

export const userAgent = 'DoorstepBot';
const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 5;
const MAX_BYTES = 2 * 1_024 * 1_024;
const MAX_HEADER_BYTES = 32 * 1_024;
const provider = 'website';

const fault = (message: string, transient: boolean, cause?: unknown): ProviderFault =>
  new ProviderFault({ provider, message, transient, cause });

export const createFetchPage = ({ clock, ...address }: FetchParts): FetchPage => {
  const request = createPublicRequest(address);
  const open = (url: URL, signal: AbortSignal): Promise<IncomingMessage> =>
    request(url, {
      signal,
      maxHeaderSize: MAX_HEADER_BYTES,
      headers: {
        'user-agent': `Mozilla/5.0 (compatible; ${userAgent}/1.0)`,
        accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5',
        'accept-encoding': 'gzip, deflate, br',
      },
    });

  const follow = async (start: string, signal: AbortSignal): Promise<Fetched> => {
    let url = new URL(start);
    for (let redirects = 0; ; redirects += 1) {
      const response = await open(url, signal);
      const { statusCode: status = 0, headers, headersDistinct } = response;
      const { location } = headers;
      if (location === undefined || ![301, 302, 303, 307, 308].includes(status)) {
        const robotsRules = headersDistinct['x-robots-tag'] ?? [];
        return { url: url.href, status, headers, robotsRules, ...(await readText(response)) };
      }
      response.destroy();
      if (redirects === MAX_REDIRECTS) throw fault(`${start} redirects too often`, false);
      const next = parseUrl(location, url.href);
      if (next === undefined) throw fault(`${start} redirects to an invalid address`, false);
      url = next;
    }
  };

  return async (url, signal) => {
    const abort = new AbortController();
    const cancelRequest = (): void => {
      abort.abort();
    };
    const cancel = clock.schedule(TIMEOUT_MS, cancelRequest);
    signal.addEventListener('abort', cancelRequest);
    if (signal.aborted) cancelRequest();
    try {
      return await follow(url, abort.signal);
    } catch (error) {
      if (error instanceof ProviderFault) throw error;
      const forbidden = forbiddenAddressOf(error);
      if (forbidden !== undefined) throw fault(forbidden.message, false, error);
      if (abort.signal.aborted) throw fault(`${url} does not answer in time`, true, error);
      throw fault(`${url} cannot be reached`, true, error);
    } finally {
      cancel();
      signal.removeEventListener('abort', cancelRequest);
    }
  };
};

/** A map, because an object has a `constructor` too. */
const decoders: ReadonlyMap<string, () => NodeJS.ReadWriteStream> = new Map<string, () => NodeJS.ReadWriteStream>([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * Reads up to `MAX_BYTES`, counted after decompression, so that a small compressed body cannot fill
 * the memory.
 */
const readText = async (response: IncomingMessage): Promise<Pick<Fetched, 'text' | 'truncated'>> => {
  const { 'content-type': type = '', 'content-encoding': encoding = '' } = response.headers;
  if (!/^(?:text\/|application\/(?:[\w.-]+\+)?xml|application\/xhtml)/i.test(type)) {
    response.destroy();
    return { text: '', truncated: false };
  }
  const decode = decoders.get(encoding.toLowerCase());
  const stream: Readable = decode === undefined ? response : (response.pipe(decode()) as unknown as Readable);
  response.on('error', (error) => stream.destroy(error));
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_BYTES) break;
    }
  } finally {
    response.destroy();
    stream.destroy();
  }
  const charset = /charset=["']?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8';
  return { text: textOf(Buffer.concat(chunks).subarray(0, MAX_BYTES), charset), truncated: bytes >= MAX_BYTES };
};

const textOf = (bytes: Uint8Array, charset: string): string => {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // Unknown character set.
  }
};
