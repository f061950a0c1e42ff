import { expect, test } from '@jest/globals';
import { createSharedTask } from '../../src/platform/sharedTask.js';

/** A task that ends when it is told to. */
const createWorld = () => {
  const runs: { readonly signal: AbortSignal; readonly end: (result: number) => void; readonly fail: (error: Error) => void }[] =
    [];
  const share = createSharedTask(
    (signal) => new Promise<number>((resolve, reject) => void runs.push({ signal, end: resolve, fail: reject })),
  );
  return { runs, share, callers: [new AbortController(), new AbortController()] as const };
};

test('who asks while the task runs gets its result, who asks later that of a new one', async () => {
  const { runs, share, callers } = createWorld();
  const [a, b] = [share(callers[0].signal), share(callers[1].signal)];
  runs[0]?.end(1);
  expect(await Promise.all([a, b])).toStrictEqual([1, 1]);
  const later = share(callers[0].signal);
  runs[1]?.end(2);
  expect(await later).toBe(2);
  expect(runs).toHaveLength(2);
});

test('it is cancelled when the last who waits has gone, and whoever comes then begins anew', async () => {
  const { runs, share, callers } = createWorld();
  const [a, b] = [share(callers[0].signal), share(callers[1].signal)];
  callers[0].abort();
  expect(runs[0]?.signal.aborted).toBe(false);
  callers[1].abort();
  expect(runs[0]?.signal.aborted).toBe(true);
  const next = share(new AbortController().signal);
  expect(runs).toHaveLength(2);
  expect(runs[1]?.signal.aborted).toBe(false);
  runs[0]?.end(1);
  runs[1]?.end(2);
  expect(await Promise.all([a, b, next])).toStrictEqual([1, 1, 2]);
});

test('a fault reaches all who wait, and ends it', async () => {
  const { runs, share, callers } = createWorld();
  const [a, b] = [share(callers[0].signal), share(callers[1].signal)];
  runs[0]?.fail(new Error('away'));
  await expect(a).rejects.toThrow('away');
  await expect(b).rejects.toThrow('away');
  const later = share(callers[0].signal);
  runs[1]?.end(1);
  expect(await later).toBe(1);
});
