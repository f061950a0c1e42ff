import type { Answer } from './call.js';
import { ConnectionError, DoorstepError } from './errors.js';
import { delayBefore, isLimit, isTemporary, throwIfAborted, wait } from './retry.js';
import type { RequestOptions } from './types.js';

/** The service sends something every 15 s: a connection that is silent for longer is dead. */
const defaultSilenceMs = 45_000;
/** Until the service says another one. */
const defaultWaitMs = 3_000;

export interface WatchOptions extends RequestOptions {
  /** How long the stream may be silent before it is connected anew, in ms; 0: for ever. Default: 45,000. */
  readonly timeoutMs?: number | undefined;
  /** `id` of the last event that the caller has: what is new since is given. */
  readonly lastEventId?: string | undefined;
}

/** One event of a stream. */
export interface ServerSentEvent {
  readonly event: string;
  /** For `lastEventId`. */
  readonly id: string;
  readonly data: unknown;
}

type Connect = (options: {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}) => Promise<Answer<ReadableStream<Uint8Array> | null>>;

/**
 * Follows a stream of events. A connection that breaks, or is silent, is made again after the last event, until the
 * service says that there is nothing more (204). Leaving the loop closes the connection.
 *
 * @throws DoorstepError when the service refuses (401, 403, 404), cannot be reached at the start, or asks by
 *   `Retry-After` for more than 60 s of waiting
 */
export async function* follow<T>(
  connect: Connect,
  { signal, headers, timeoutMs = defaultSilenceMs, lastEventId = '' }: WatchOptions = {},
  toItem: (event: ServerSentEvent) => T,
): AsyncGenerator<T, void, undefined> {
  let id = lastEventId;
  let waitMs = defaultWaitMs;
  let failures = 0;
  let wasOpen = false;
  for (;;) {
    const idBefore = id;
    const controller = new AbortController();
    const abort = (): void => {
      controller.abort(signal?.reason);
    };
    throwIfAborted(signal);
    signal?.addEventListener('abort', abort);
    let pause: number;
    try {
      const { data: body } = await connect({
        headers: { ...headers, ...(id !== '' && { 'last-event-id': id }) },
        signal: controller.signal,
        timeoutMs,
      });
      if (body === null) return;
      wasOpen = true;
      failures = 0;
      for await (const event of read(body, id, timeoutMs, (ms) => (waitMs = ms))) {
        id = event.id;
        yield toItem(event);
      }
      // It may have ended because there is nothing more: then the answer is 204.
      pause = id === idBefore ? waitMs : 0;
    } catch (error) {
      throwIfAborted(signal);
      const delay = wasOpen && isTemporary(error) ? delayBefore(failures, error.headers) : undefined;
      if (delay === undefined) throw error;
      pause = Math.max(waitMs, delay);
      failures += 1;
    } finally {
      signal?.removeEventListener('abort', abort);
      controller.abort();
    }
    await wait(pause, signal);
  }
}

/** The events in a body (WHATWG HTML, "Server-sent events"). Ends when the body does, which drops half an event. */
async function* read(
  body: ReadableStream<Uint8Array>,
  lastEventId: string,
  timeoutMs: number,
  onRetry: (ms: number) => void,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let endsInReturn = false;
  let event = '';
  let id = lastEventId;
  let data: string[] = [];
  try {
    for (;;) {
      const { value, done } = await readWithin(reader, timeoutMs);
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      // The other half of a line break that has ended a line already.
      const lines = (rest + (endsInReturn && text.startsWith('\n') ? text.slice(1) : text)).split(/\r\n|\n|\r/);
      if (text !== '') endsInReturn = text.endsWith('\r');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        // `s`: JSON may hold U+2028 and U+2029 as they are, which end no line here.
        const [, field, content = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
        if (field === 'event') event = content;
        else if (field === 'data') data.push(content);
        else if (field === 'id' && !content.includes('\0')) id = content;
        else if (field === 'retry' && /^\d+$/.test(content)) onRetry(Number(content));
        else if (line === '') {
          if (data.length > 0) yield { event: event || 'message', id, data: parsed(data.join('\n')) };
          event = '';
          data = [];
        }
      }
    }
  } finally {
    // What a broken stream says to this was thrown already.
    reader.cancel().catch(() => undefined);
  }
}

const readWithin = async (
  reader: ReadableStreamDefaultReader<Uint8Array>,
  timeoutMs: number,
): Promise<ReadableStreamReadResult<Uint8Array>> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    if (!isLimit(timeoutMs)) return;
    timer = setTimeout(() => {
      reject(new ConnectionError(`The stream was silent for ${String(timeoutMs)} ms`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } catch (error) {
    throw error instanceof DoorstepError ? error : new ConnectionError('The stream broke off', undefined, { cause: error });
  } finally {
    clearTimeout(timer);
  }
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new DoorstepError('The stream sent an event that is not JSON', undefined, { cause: error });
  }
};
