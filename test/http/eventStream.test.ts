import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Answer } from '../../src/http/route.js';
import { eventually } from '../support/eventually.js';
import { createHeldReader } from '../support/heldReader.js';
import { startApi, type RunningApi } from '../support/http.js';
import { probe } from '../support/probeRoutes.js';
import { createTestClock } from '../support/testClock.js';
import { systemClock } from '../../src/platform/clock.js';

type Events = NonNullable<Answer['events']>;

let api: RunningApi;
let token: string;
/** What the next answer sends. */
let events: (signal: AbortSignal) => Events;
/** How the last iterable ended. */
let ended: string | undefined;
const timers = createTestClock();
const reader = createHeldReader();

const start = (): Promise<RunningApi> =>
  startApi({
    projector: false,
    mounts: { '/': reader.mount },
    clock: {
      now: () => systemClock.now(),
      schedule: (ms, task) => (ms === 15_000 ? timers.schedule(ms, task) : systemClock.schedule(ms, task)),
    },
    routes: () => [
      probe({
        path: '/events',
        answers: { 200: { description: 'Events.', contentType: 'text/event-stream' } },
        answer: ({ signal }) => Promise.resolve({ events: events(signal) }),
      }),
    ],
  });

beforeAll(async () => {
  api = await start();
  token = await api.mintToken();
});

/** Two events, then what the signal makes of it. */
const twoThenSilence = async function* (
  signal: AbortSignal,
): Events extends AsyncIterable<infer Event> ? AsyncGenerator<Event> : never {
  try {
    yield [{ event: 'job', id: '1', data: { step: 'a\nb' } }];
    yield [{ data: [1] }];
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });
    ended = 'aborted';
  } finally {
    ended ??= 'returned';
  }
};

const listen = async (
  at = api,
): Promise<{ response: Response; text: () => string; done: Promise<string>; leave: () => void }> => {
  const leaving = new AbortController();
  ended = undefined;
  const response = await fetch(`${at.url}/v1/events`, { headers: { authorization: `Bearer ${token}` }, signal: leaving.signal });
  let received = '';
  const read = async (): Promise<string> => {
    try {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) received += Buffer.from(chunk).toString();
      return 'ended';
    } catch {
      return 'cut off';
    }
  };
  const leave = (): void => {
    leaving.abort();
  };
  return { response, text: () => received, done: read(), leave };
};

describe('server-sent events', () => {
  test('come as they happen, and end with the last', async () => {
    events = async function* () {
      yield await Promise.resolve([{ event: 'job', id: '1', data: { step: 'a\nb' } }]);
      yield [{ data: [1] }];
    };
    const { response, done, text } = await listen();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store, no-transform');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await done).toBe('ended');
    expect(text()).toBe('retry: 3000\n\nevent: job\nid: 1\ndata: {"step":"a\\nb"}\n\ndata: [1]\n\n');
  });

  test('are kept alive by a comment every 15 s', async () => {
    events = twoThenSilence;
    const { text, leave } = await listen();
    await eventually('the events', () => (text().includes('[1]') ? true : undefined));
    for (const count of [1, 2]) {
      await timers.advance(15_000);
      await eventually('a comment', () => (text().split(': still here\n\n').length === count + 1 ? true : undefined));
    }
    leave();
    await eventually('the end', () => ended);
    await eventually('no more timers', () => (timers.pending() === 0 ? true : undefined));
  });

  test('end for the handler when the reader goes', async () => {
    events = twoThenSilence;
    const { text, leave } = await listen();
    await eventually('the events', () => (text().includes('[1]') ? true : undefined));
    leave();
    expect(await eventually('the end', () => ended)).toBe('aborted');
  });

  test('end for the reader when the service stops', async () => {
    const stopping = await start();
    events = twoThenSilence;
    token = await stopping.mintToken();
    const { text, done } = await listen(stopping);
    await eventually('the events', () => (text().includes('[1]') ? true : undefined));
    await stopping.stop();
    expect(await done).toBe('ended');
    expect(ended).toBe('aborted');
    token = await api.mintToken();
  });

  test('that cannot go on are cut off, and it is logged', async () => {
    events = async function* () {
      yield await Promise.resolve([{ data: 1 }]);
      throw new Error('the log cannot be followed');
    };
    const { done } = await listen();
    expect(await done).toBe('cut off');
    expect(api.log).toContainEqual(
      expect.objectContaining({ level: 'error', err: expect.objectContaining({ message: 'the log cannot be followed' }) }),
    );
  });

  test('wait for a reader who is slow', async () => {
    let asked = 0;
    let askedWhileFull = 0;
    events = async function* () {
      for (; asked < 1_000; asked += 1) {
        if (reader.isFull()) askedWhileFull += 1;
        if (asked === 3) await reader.hold();
        yield await Promise.resolve([{ data: 'x'.repeat(50_000) }]);
      }
    };
    const { done } = await listen();
    await reader.full();
    expect(asked).toBeLessThan(10);
    reader.letGo();
    expect([await done, asked, askedWhileFull]).toEqual(['ended', 1_000, 0]);
  });

  test('are not kept in memory once they are sent', async () => {
    const batches: WeakRef<object>[] = [];
    const nextBatch = () => {
      const batch = [{ data: batches.length }];
      batches.push(new WeakRef(batch));
      return batch;
    };
    events = async function* (signal) {
      while (batches.length < 20) yield await Promise.resolve(nextBatch());
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
    };
    const { text, leave } = await listen();
    await eventually('the last event', () => (text().includes('data: 19') ? true : undefined));
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const kept = (): number => batches.filter((batch) => batch.deref() !== undefined).length;
    const left = await eventually('the end of what was sent', () => {
      collect();
      return kept() <= 2 ? kept() : undefined;
    });
    expect(left).toBeLessThanOrEqual(2);
    leave();
  });

  test('are not sent for HEAD', async () => {
    events = twoThenSilence;
    const answer = await api.call('HEAD', '/events', { token });
    expect([answer.status, answer.text]).toStrictEqual([200, '']);
  });
});
