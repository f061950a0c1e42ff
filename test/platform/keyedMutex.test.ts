import { expect, test } from '@jest/globals';
import { createKeyedMutex } from '../../src/platform/keyedMutex.js';

/** A task that ends when the test says so, and knows whether it has started. */
const createTask = () => {
  let end: (result: string) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const ended = new Promise<string>((resolve, reject) => {
    [end, fail] = [resolve, reject];
  });
  const task = {
    started: false,
    run: () => {
      task.started = true;
      return ended;
    },
    end,
    fail,
  };
  return task;
};

test('tasks of one key run one after the other, in the order of the calls', async () => {
  const mutex = createKeyedMutex();
  const order: number[] = [];
  const tasks = Array.from({ length: 20 }, (_, index) =>
    mutex.run('a', async () => {
      order.push(index);
      await Promise.resolve();
      order.push(index);
      return index;
    }),
  );
  expect(await Promise.all(tasks)).toEqual(tasks.map((_, index) => index));
  expect(order).toEqual(tasks.flatMap((_, index) => [index, index]));
});

test('tasks of other keys do not wait', async () => {
  const mutex = createKeyedMutex();
  const [held, other] = [createTask(), createTask()];
  const first = mutex.run('a', held.run);
  other.end('other');
  expect(await mutex.run('b', other.run)).toBe('other');
  held.end('held');
  expect(await first).toBe('held');
});

test('a task that fails, at once or later, rejects for its caller only', async () => {
  const mutex = createKeyedMutex();
  const [failing, next] = [createTask(), createTask()];
  const first = mutex.run('a', failing.run);
  const second = mutex.run('a', () => {
    throw new Error('at once');
  });
  const third = mutex.run('a', next.run);
  const outcomes = Promise.allSettled([first, second, third]);
  expect(next.started).toBe(false);
  failing.fail(new Error('later'));
  next.end('done');
  expect(await outcomes).toMatchObject([
    { status: 'rejected', reason: { message: 'later' } },
    { status: 'rejected', reason: { message: 'at once' } },
    { status: 'fulfilled', value: 'done' },
  ]);
});

test('a key is removed once its tasks have ended, however they ended', async () => {
  const pending = new Map<string, Promise<unknown>>();
  const mutex = createKeyedMutex(pending);
  const tasks = Array.from({ length: 100 }, (_, index) =>
    mutex.run(`key-${index % 10}`, () => (index % 3 === 0 ? Promise.reject(new Error('failed')) : Promise.resolve())),
  );
  expect(pending.size).toBe(10);
  await Promise.allSettled(tasks);
  expect(pending.size).toBe(0);
});

test('the first task starts at once', () => {
  const task = createTask();
  void createKeyedMutex().run('a', task.run);
  expect(task.started).toBe(true);
});
