import { expect, test } from '@jest/globals';
import { createTurns } from '../../src/platform/turns.js';

/** A task that ends when it is told to, and says whether it has begun. */
const createTask = () => {
  let end: (result: string) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const ended = new Promise<string>((resolve, reject) => {
    [end, fail] = [resolve, reject];
  });
  const task = {
    begun: false,
    run: () => {
      task.begun = true;
      return ended;
    },
    end,
    fail,
  };
  return task;
};

test('tasks of one key run one after the other, in the order in which they came', async () => {
  const inTurn = createTurns();
  const order: number[] = [];
  const tasks = Array.from({ length: 20 }, (_, index) =>
    inTurn('a', async () => {
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
  const inTurn = createTurns();
  const [held, other] = [createTask(), createTask()];
  const first = inTurn('a', held.run);
  other.end('other');
  expect(await inTurn('b', other.run)).toBe('other');
  held.end('held');
  expect(await first).toBe('held');
});

test('a task that fails, at once or later, fails its caller only', async () => {
  const inTurn = createTurns();
  const [failing, next] = [createTask(), createTask()];
  const first = inTurn('a', failing.run);
  const second = inTurn('a', () => {
    throw new Error('at once');
  });
  const third = inTurn('a', next.run);
  const outcomes = Promise.allSettled([first, second, third]);
  expect(next.begun).toBe(false);
  failing.fail(new Error('later'));
  next.end('done');
  expect(await outcomes).toMatchObject([
    { status: 'rejected', reason: { message: 'later' } },
    { status: 'rejected', reason: { message: 'at once' } },
    { status: 'fulfilled', value: 'done' },
  ]);
});

test('nothing is left of a key when its tasks are done, however they ended', async () => {
  const underWay = new Map<string, Promise<unknown>>();
  const inTurn = createTurns(underWay);
  const tasks = Array.from({ length: 100 }, (_, index) =>
    inTurn(`key-${index % 10}`, () => (index % 3 === 0 ? Promise.reject(new Error('failed')) : Promise.resolve())),
  );
  expect(underWay.size).toBe(10);
  await Promise.allSettled(tasks);
  expect(underWay.size).toBe(0);
});

test('the first task begins at once', () => {
  const task = createTask();
  void createTurns()('a', task.run);
  expect(task.begun).toBe(true);
});
