import { connect } from 'node:net';

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case; of several with one name the last. */
  readonly headers: Readonly<Record<string, string>>;
  /** All that came after the head, one character a byte. */
  readonly rest: string;
}

const timeoutMs = 10_000;

/**
 * Sends bytes as they are on a connection of their own and reads the answer until the service
 * closes it, or until the first of its server-sent events is there. `null`: the service closed the
 * connection without an answer.
 *
 * @param bytes with `Connection: close` among the headers, or else the service has to have a reason
 *   to close
 * @throws Error when nothing comes in 10 s
 */
export const sendRaw = (
  url: string,
  bytes: Uint8Array | string,
  options: { halfClose?: boolean } = {},
): Promise<RawAnswer | null> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, timeout: timeoutMs });
    const chunks: Buffer[] = [];
    const finish = (): void => {
      socket.destroy();
      resolve(answerIn(Buffer.concat(chunks).toString('latin1')));
    };
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      if (isFirstEvent(Buffer.concat(chunks).toString('latin1'))) finish();
    });
    socket.once('end', finish);
    socket.once('timeout', () => {
      socket.destroy();
      reject(new Error(`no answer in ${timeoutMs} ms, but ${Buffer.concat(chunks).toString('latin1')}`));
    });
    // The service may close while it is still being written to: what it said before counts.
    socket.once('error', finish);
    if (options.halfClose === true) socket.end(bytes);
    else socket.write(bytes);
  });

const isFirstEvent = (text: string): boolean => /^HTTP[^]*?\r\ncontent-type: text\/event-stream[^]*?\r\n\r\n[^]*\n\n/i.test(text);

const answerIn = (text: string): RawAnswer | null => {
  if (text === '') return null;
  const [head = ''] = text.split('\r\n\r\n', 1);
  const rest = text.slice(head.length + 4);
  const [first = '', ...lines] = head.split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
  if (Number.isNaN(status)) throw new Error(`no answer of HTTP: ${text.slice(0, 200)}`);
  if (status < 200) return answerIn(rest);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { status, headers: Object.fromEntries(headers), rest };
};

/** A request as bytes, its body as it is. Header values are text in UTF-8. */
export const rawRequest = (
  method: string,
  target: string,
  headers: readonly (readonly [string, string])[] = [],
  body: Uint8Array = Buffer.alloc(0),
): Buffer => {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}connection: close\r\n\r\n`), body]);
};

/** The body in chunks of HTTP's. */
export const chunked = (body: Uint8Array, size = 1_000): Buffer => {
  const parts: Buffer[] = [];
  for (let start = 0; start < body.length; start += size) {
    const part = body.subarray(start, start + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), Buffer.from(part), Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
};
