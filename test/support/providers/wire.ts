import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterAll } from '@jest/globals';

/** A request, as a fake provider receives it. */
export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** JSON as parsed, anything else as text; undefined without a body. */
  readonly body: unknown;
}

export interface FakeAnswer {
  readonly status: number;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A fake of a provider's API. It throws when the provider's description does not allow a request.
 */
export type FakeProvider = (request: FakeRequest) => FakeAnswer;

/** A failure of one request, and whether the provider acted before it. */
export interface Trouble {
  readonly when: 'before' | 'after';
  readonly what: TroubleKind;
}

/**
 * 429 with `Retry-After`, 500, a reset connection, no answer at all, half of an answer, one that
 * never ends, an HTML page, another JSON.
 */
export const troubleKinds = ['429', '500', 'reset', 'silence', 'half', 'drip', 'page', 'nonsense'] as const;
export type TroubleKind = (typeof troubleKinds)[number];

/** The trouble of the n-th request, counted from 0. */
export type TroublePlan = (request: FakeRequest, index: number) => Trouble | undefined;

const json = { 'content-type': 'application/json; charset=utf-8' };
const tooMany: FakeAnswer = { status: 429, body: { message: 'Slow down' }, headers: { 'retry-after': '7' } };

/** The response that arrives instead of `answer`; null for none. */
const spoilt = (
  what: TroubleKind,
  answer: FakeAnswer,
): { status: number; headers: Record<string, string>; text: string } | null => {
  const sound = { status: answer.status, headers: { ...json, ...answer.headers }, text: textOf(answer) };
  switch (what) {
    case '429':
      return { status: 429, headers: { ...json, ...tooMany.headers }, text: textOf(tooMany) };
    case '500':
      return { status: 500, headers: json, text: '{"message":"Something is broken"}' };
    case 'page':
      return { status: 200, headers: { 'content-type': 'text/html' }, text: '<h1>Back soon</h1>' };
    case 'nonsense':
      return { status: 200, headers: json, text: '{"unexpected":[1]}' };
    case 'half':
    case 'drip':
      return { ...sound, text: sound.text.length > 1 ? sound.text.slice(0, Math.ceil(sound.text.length / 2)) : ' ' };
    case 'reset':
    case 'silence':
      return null;
  }
};

const textOf = ({ body }: FakeAnswer): string => (body === undefined ? '' : JSON.stringify(body));

const requestFrom = (method: string, url: string, headers: Headers, text: string): FakeRequest => {
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
  const isForm = headers.get('content-type')?.startsWith('application/x-www-form-urlencoded') ?? false;
  const body = text === '' ? undefined : isForm ? text : (JSON.parse(text) as unknown);
  return { method, path: pathname, query: searchParams, headers, body };
};

const never = new Promise<never>(() => undefined);

/**
 * A `fetch` that calls a fake directly, without a socket, for thousands of runs on virtual time.
 * `line` injects failures.
 */
export const fetchFrom =
  (
    provider: FakeProvider,
    line: (request: FakeRequest, act: () => FakeAnswer) => Promise<{ answer: FakeAnswer; trouble?: TroubleKind }> = (_, act) =>
      Promise.resolve({ answer: act() }),
  ): typeof fetch =>
  async (input, init) => {
    const signal = init?.signal ?? undefined;
    const aborted =
      signal === undefined
        ? never
        : new Promise<never>((_, reject) => {
            signal.addEventListener('abort', () => {
              reject(new DOMException('aborted', 'AbortError'));
            });
          });
    const text = typeof init?.body === 'string' ? init.body : '';
    const url = input instanceof Request ? input.url : String(input);
    const request = requestFrom(init?.method ?? 'GET', url, new Headers(init?.headers), text);
    const { answer, trouble } = await Promise.race([line(request, () => provider(request)), aborted]);
    if (trouble === undefined) {
      const hasBody = answer.body !== undefined;
      return new Response(hasBody ? textOf(answer) : null, { status: answer.status, headers: { ...json, ...answer.headers } });
    }
    const instead = spoilt(trouble, answer);
    if (trouble === 'reset') throw new TypeError('fetch failed', { cause: new Error('read ECONNRESET') });
    if (instead === null) return aborted;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode(instead.text));
        if (trouble === 'half') controller.error(new TypeError('terminated'));
        else if (trouble !== 'drip') controller.close();
        else
          signal?.addEventListener('abort', () => {
            controller.error(new DOMException('aborted', 'AbortError'));
          });
      },
    });
    return new Response(body, instead);
  };

export interface ServedFake {
  /** Without a trailing slash. */
  readonly url: string;
  /** Every request, in order. */
  readonly requests: readonly FakeRequest[];
  /** The trouble of the next requests; none when absent. */
  trouble(plan?: TroublePlan): void;
  /** Errors that the fake threw for requests that the description does not allow. */
  readonly complaints: readonly unknown[];
}

const closing: (() => void)[] = [];
afterAll(() => {
  for (const close of closing.splice(0)) close();
});

/** Serves a fake on a free loopback port until the test file ends. */
export const serveFake = async (provider: FakeProvider): Promise<ServedFake> => {
  const requests: FakeRequest[] = [];
  const complaints: unknown[] = [];
  let plan: TroublePlan = () => undefined;
  let count = 0;

  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const headers = new Headers(Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]));
    const text = Buffer.concat(chunks).toString();
    const request = requestFrom(incoming.method ?? '', incoming.url ?? '', headers, text);
    requests.push(request);
    const trouble = plan(request, count);
    count += 1;
    const made = trouble?.when === 'before' ? { status: 200, body: {} } : provider(request);
    if (trouble === undefined) {
      response.writeHead(made.status, { ...json, ...made.headers }).end(textOf(made));
      return;
    }
    const instead = spoilt(trouble.what, made);
    if (trouble.what === 'reset') incoming.socket.resetAndDestroy();
    if (instead === null) return;
    const isCut = trouble.what === 'half' || trouble.what === 'drip';
    response.writeHead(instead.status, {
      ...instead.headers,
      ...(isCut && { 'content-length': String(instead.text.length + 99) }),
    });
    if (!isCut) response.end(instead.text);
    else response.write(instead.text, () => trouble.what === 'half' && incoming.socket.destroy());
  };

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => {
      complaints.push(error);
      response.writeHead(599, json).end(JSON.stringify({ message: String(error) }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    complaints,
    trouble: (next = () => undefined) => {
      plan = next;
      count = 0;
    },
  };
};
