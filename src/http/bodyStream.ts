import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../platform/clock.js';
import { compressor, encodingFor, isCompressibleType } from './compression.js';
import type { Exchange } from './exchange.js';
import { securityHeaders } from './reply.js';
import type { Answer } from './route.js';
import type { StreamGuard } from './streamGuard.js';

/** A reader that takes nothing for this long is given up: it may never come back. */
const stalledMs = 60_000;

/**
 * Sends a body in parts, no faster than the reader takes them, so that it is never in memory as a
 * whole. `guard` is asked before each part.
 *
 * The connection is cut when the reader loses access, takes nothing for a minute, when `signal` is
 * aborted, or a part cannot be made: so that nobody takes what came for the whole.
 * @throws what the parts or the guard throw
 */
export const sendParts = async (
  { request, response, requestId, headers: own }: Exchange,
  answer: Answer & { readonly parts: NonNullable<Answer['parts']> },
  tools: { readonly clock: Clock; readonly signal: AbortSignal; readonly end: () => void; readonly guard: StreamGuard },
): Promise<void> => {
  const { clock, signal, end, guard } = tools;
  const encoding = isCompressibleType(answer.headers?.['content-type']) ? encodingFor(request) : null;
  const vary = [own.vary, answer.headers?.vary, 'accept-encoding'].filter((name) => name !== undefined).join(', ');
  response.writeHead(answer.status ?? 200, {
    'cache-control': 'no-store',
    ...securityHeaders,
    ...own,
    ...answer.headers,
    vary,
    'x-request-id': requestId,
    ...(encoding !== null && { 'content-encoding': encoding }),
  });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  // With an unread body, the end of the connection would not be noticed.
  request.resume();

  let fault: { readonly error: unknown } | undefined;
  const giveUp = (error: unknown): void => {
    fault ??= { error };
    end();
  };
  guard.lost(signal).then(end, giveUp);
  let stopWaiting = (): void => undefined;
  const onPart = async (): Promise<boolean> => {
    stopWaiting();
    stopWaiting = clock.schedule(stalledMs, end);
    return !signal.aborted && guard.mayGoOn();
  };
  try {
    const source = Readable.from(guarded(answer.parts, onPart, end), { objectMode: false, highWaterMark: 1 });
    const stages: Transform[] = encoding === null ? [] : [compressor(encoding)];
    await pipeline([source, ...stages, response], { signal });
  } catch (error) {
    // After the signal only the reader knows: they have gone, or lost access.
    if (!signal.aborted) throw error;
  } finally {
    stopWaiting();
    end();
    if (!response.writableFinished) response.destroy();
  }
  if (fault !== undefined) throw fault.error;
};

/**
 * The parts, while the reader may have them. The next one is asked for once the one before is taken.
 */
async function* guarded(
  parts: NonNullable<Answer['parts']>,
  mayGoOn: () => Promise<boolean>,
  end: () => void,
): AsyncGenerator<Uint8Array, void> {
  for await (const part of parts) {
    if (!(await mayGoOn())) {
      end();
      return;
    }
    yield typeof part === 'string' ? Buffer.from(part) : part;
  }
}
