import { pipeline } from 'node:stream/promises';
import type { ByteRange } from '../integrations/files/port.js';
import { httpErrors } from './errors.js';
import type { Exchange } from './exchange.js';
import { securityHeaders } from './reply.js';
import type { Answer, StreamedContent } from './route.js';

/**
 * Sends the content of a file no faster than it is taken, whole or the one part that `Range` asks for
 * (RFC 9110, 14). Several parts, and what is no range of bytes, are answered with the whole.
 */
export const sendContent = async (
  { request, response, requestId, headers: own, yieldPlace }: Exchange,
  { content, headers }: Answer & { readonly content: StreamedContent },
): Promise<void> => {
  const { bytes } = content;
  const { range: asked, 'if-range': condition } = request.headers;
  // Of GET alone (RFC 9110, 14.2): HEAD says what the whole is.
  const range = request.method === 'GET' && condition === undefined ? rangeIn(asked, bytes) : undefined;
  if (range === null) throw httpErrors.rangeNotSatisfiable(bytes);
  const all = {
    ...securityHeaders,
    ...own,
    'cache-control': 'no-store',
    'accept-ranges': 'bytes',
    ...headers,
    'x-request-id': requestId,
  };
  const { start, end } = range ?? { start: 0, end: bytes - 1 };
  const head = {
    ...all,
    'content-length': end - start + 1,
    ...(range !== undefined && { 'content-range': `bytes ${String(start)}-${String(end)}/${String(bytes)}` }),
  };
  if (request.method === 'HEAD') {
    response.writeHead(200, head).end();
    return;
  }
  const source = await content.open(range);
  // It waits for its reader more than it works.
  yieldPlace();
  response.writeHead(range === undefined ? 200 : 206, head);
  try {
    await pipeline(source, response);
  } catch {
    // The reader has gone, or the file ends too early: the connection is closed, which says so.
    response.destroy();
  }
};

/** Undefined: the whole is asked for; `null`: it is no part of so many bytes. */
const rangeIn = (header: string | undefined, bytes: number): ByteRange | null | undefined => {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return undefined;
  const start = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  // A last byte before the first makes no range at all.
  if (first !== '' && last !== '' && Number(last) < start) return undefined;
  return start > end ? null : { start, end };
};
