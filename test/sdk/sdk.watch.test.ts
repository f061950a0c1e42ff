import type { ServerResponse } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { AbortError, ConnectionError, Doorstep, NotFoundError, PermissionError, type WatchOptions } from '@doorstep/sdk';
import { eventually } from '../support/eventually.js';
import { json, startScripted, text, type ScriptedServer, type Step } from './scriptedServer.js';

const type = { 'content-type': 'text/event-stream' };
const nothingMore = text(204, '');

/** Sends a stream in pieces, so that they come one by one, and ends or cuts it. */
const stream =
  (pieces: readonly (string | Uint8Array)[], then: (response: ServerResponse) => unknown = (response) => response.end()): Step =>
  async (response) => {
    response.writeHead(200, type);
    for (const piece of pieces) {
      await new Promise((resolve) => response.write(piece, resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
    then(response);
  };

const open = ({ url }: ScriptedServer): Doorstep => new Doorstep({ baseUrl: url, token: 'svc_pat_x', maxRetries: 0 });

const changesOf = async (server: ScriptedServer, options?: WatchOptions): Promise<unknown[]> => {
  const changes: unknown[] = [];
  for await (const change of open(server).changes.watch(options)) changes.push(change);
  return changes;
};

const lastEventIds = ({ asked }: ScriptedServer): unknown[] => asked.map(({ headers }) => headers['last-event-id']);

/** A response that says each time that its reader waits for more of it, and how often that was so far. */
const noticed = (response: Response, onAsk: (asked: number) => void): Response => {
  if (response.body === null) return response;
  const source: ReadableStream<Uint8Array> = response.body;
  const reader = source.getReader();
  let asked = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        asked += 1;
        onAsk(asked);
        const { value, done } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, response);
};

describe('the events of a stream', () => {
  test.each([
    ['line feeds', ['event: website\nid: 1\ndata: {"a":1}\n\n']],
    ['carriage returns', ['event: website\rid: 1\rdata: {"a":1}\r\r']],
    ['both', ['event: website\r\nid: 1\r\ndata: {"a":1}\r\n\r\n']],
    ['both, torn apart', ['event: website\r', '\nid: 1\r', '\ndata: {"a":1}\r', '\n\r', '\n']],
    ['every character by itself', Array.from('event: website\nid: 1\ndata: {"a":1}\n\n')],
    [
      'comments and fields that nobody knows between',
      [': hello\n\nevent: website\nnew: 1\nid: 1\n: \ndata: {"a":1}\n\n: still here\n\n'],
    ],
    ['no spaces', ['event:website\nid:1\ndata:{"a":1}\n\n']],
    ['data in several lines', ['event: website\nid: 1\ndata: {\ndata: "a":1}\n\n']],
    ['an event that was never finished', ['event: website\nid: 1\ndata: {"a":1}\n\nevent: website\nid: 2\ndata: {}\n']],
  ])('with %s', async (_, pieces) => {
    const server = await startScripted(stream(pieces), nothingMore);
    expect(await changesOf(server)).toEqual([{ event: 'website', id: '1', data: { a: 1 } }]);
    expect(lastEventIds(server)).toEqual([undefined, '1']);
    expect(server.asked[0]?.headers.accept).toBe('text/event-stream');
  });

  test('with separators of lines and paragraphs in its data, which end no line of a stream', async () => {
    const server = await startScripted(stream(['id: 1\ndata: "one\u2028two\u2029three"\n\n']), nothingMore);
    expect(await changesOf(server)).toEqual([{ event: 'message', id: '1', data: 'one\u2028two\u2029three' }]);
  });

  test('in a script of several bytes, torn in the middle of a character', async () => {
    const bytes = Buffer.from('id: 1\ndata: "Müsli 🥐"\n\n');
    const middle = bytes.indexOf('🥐') + 2;
    const server = await startScripted(stream([bytes.subarray(0, middle), bytes.subarray(middle)]), nothingMore);
    expect(await changesOf(server)).toEqual([{ event: 'message', id: '1', data: 'Müsli 🥐' }]);
  });

  test('that are not JSON end the loop with an error', async () => {
    const server = await startScripted(stream(['id: 1\ndata: {"a"\n\n']), nothingMore);
    await expect(changesOf(server)).rejects.toThrow('The stream sent an event that is not JSON');
  });

  test('of a page, which is at the address in place of the service, end the loop with an error', async () => {
    const server = await startScripted(text(200, '<h1>Hello</h1>', { 'content-type': 'text/html' }), nothingMore);
    await expect(changesOf(server)).rejects.toThrow(
      'The answer is not text/event-stream, but text/html: is the service at this address?',
    );
    expect(server.asked).toHaveLength(1);
  });

  test('their data alone, where all are of one kind', async () => {
    const server = await startScripted(stream(['event: job\nid: 1\ndata: {"status":"succeeded"}\n\n']), nothingMore);
    const jobs: unknown[] = [];
    for await (const job of open(server).websites.provisioning.watch('w1')) jobs.push(job);
    expect(jobs).toEqual([{ status: 'succeeded' }]);
  });
});

describe('a stream is followed again', () => {
  const first = 'retry: 100\n\nid: 1\ndata: 1\n\n';

  test.each([
    ['when the connection breaks', (response: ServerResponse) => response.destroy()],
    ['when it is silent for too long', () => undefined],
  ])('%s: after the last event, and after the wait that the service says', async (_, then) => {
    const server = await startScripted(stream([first], then), stream(['id: 2\ndata: 2\n\n']), nothingMore);
    const changes = await changesOf(server, { timeoutMs: 300 });
    expect(changes).toEqual([expect.objectContaining({ id: '1' }), expect.objectContaining({ id: '2' })]);
    expect(lastEventIds(server)).toEqual([undefined, '1', '2']);
    expect((server.asked[1]?.at ?? 0) - (server.asked[0]?.at ?? 0)).toBeGreaterThanOrEqual(99);
  });

  test('while the service is away or busy', async () => {
    const busy = text(503, '', { 'retry-after': '0' });
    const server = await startScripted(
      stream([first]),
      busy,
      (response) => response.destroy(),
      stream(['id: 2\ndata: 2\n\n']),
      nothingMore,
    );
    expect(await changesOf(server)).toHaveLength(2);
    expect(lastEventIds(server)).toEqual([undefined, '1', '1', '1', '2']);
  });

  test.each([0, 2 ** 31])('but never for its silence where `timeoutMs` is %d', async (timeoutMs) => {
    let timersHadTheirTurn = (): void => undefined;
    const turn = new Promise<void>((resolve) => (timersHadTheirTurn = resolve));
    const late = async (response: ServerResponse): Promise<void> => {
      await turn;
      response.end('id: 1\ndata: 1\n\n');
    };
    const server = await startScripted(stream([': hello\n\n'], late), nothingMore);
    const afterHello = (asked: number): void => {
      // Timers of the same length fire in the order in which they were set, and 0 ms and more than a timer takes are 1 ms.
      if (asked > 1) setTimeout(timersHadTheirTurn, 1);
    };
    const doorstep = new Doorstep({
      baseUrl: server.url,
      token: 'svc_pat_x',
      fetch: async (request, init) => noticed(await fetch(request, init), afterHello),
    });
    const changes: unknown[] = [];
    for await (const change of doorstep.changes.watch({ timeoutMs })) changes.push(change);
    expect(changes).toEqual([expect.objectContaining({ id: '1' })]);
    expect(lastEventIds(server)).toEqual([undefined, '1']);
  });

  test('from where the caller was', async () => {
    const server = await startScripted(nothingMore);
    expect(await changesOf(server, { lastEventId: '41' })).toEqual([]);
    expect(lastEventIds(server)).toEqual(['41']);
  });

  test('not at once when it brings nothing', async () => {
    const server = await startScripted(stream(['retry: 100\n\n']), nothingMore);
    await changesOf(server);
    expect((server.asked[1]?.at ?? 0) - (server.asked[0]?.at ?? 0)).toBeGreaterThanOrEqual(99);
  });
});

describe('a stream ends', () => {
  test('with the refusal of the service, also in the middle', async () => {
    const [unknown, lost] = await Promise.all([
      startScripted(json(404, { error: 'Website w1 not found', code: 'website_not_found', details: null })),
      startScripted(stream(['id: 1\ndata: 1\n\n']), json(403, { error: 'Not authorized to access website w1' })),
    ]);
    await expect(changesOf(unknown)).rejects.toBeInstanceOf(NotFoundError);
    await expect(changesOf(lost)).rejects.toBeInstanceOf(PermissionError);
  });

  test('when the service asks for more than a minute of peace, as a call does', async () => {
    const busy = json(503, { error: 'Service restarting' }, { 'retry-after': '61' });
    const server = await startScripted(stream(['retry: 1\n\nid: 1\ndata: 1\n\n']), busy, nothingMore);
    await expect(changesOf(server)).rejects.toMatchObject({ status: 503, message: 'Service restarting' });
    expect(server.asked).toHaveLength(2);
  });

  test('when the service is not there at the start', async () => {
    const server = await startScripted((response) => response.destroy());
    await expect(changesOf(server)).rejects.toBeInstanceOf(ConnectionError);
  });

  test('when the caller leaves the loop, which closes the connection', async () => {
    const server = await startScripted(stream(['id: 1\ndata: 1\n\n'], () => undefined));
    for await (const change of open(server).changes.watch()) {
      expect(change.id).toBe('1');
      break;
    }
    await eventually('the end of the connection', () => (server.abandoned() === 1 ? true : undefined));
    expect(server.asked).toHaveLength(1);
  });

  test('when the caller aborts while it waits for an event, or for the next connection', async () => {
    const [silent, away] = await Promise.all([
      startScripted(stream(['id: 1\ndata: 1\n\n'], () => undefined)),
      startScripted(stream(['retry: 60000\n\nid: 1\ndata: 1\n\n'], (response) => response.destroy())),
    ]);
    for (const server of [silent, away]) {
      const controller = new AbortController();
      const following = changesOf(server, { signal: controller.signal });
      await eventually('the connection', () => server.asked[0]);
      controller.abort();
      await expect(following).rejects.toBeInstanceOf(AbortError);
    }
    await eventually('the end of the connection', () => (silent.abandoned() === 1 ? true : undefined));
  });
});
