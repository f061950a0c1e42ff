import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { endOnSignals } from '../../src/platform/processEnd.js';
import { collectLogs } from '../support/logs.js';
import { createTestClock } from '../support/testClock.js';

/** @param stop stops the service */
const startProcess = (stop: () => Promise<void>) => {
  const clock = createTestClock();
  const { logger, lines } = collectLogs();
  const codes: number[] = [];
  const process = Object.assign(new EventEmitter(), { exit: (code: number) => void codes.push(code) });
  endOnSignals({ process, clock, logger, flushed: () => Promise.resolve(), stop });
  return {
    clock,
    codes,
    send: async (event: string, ...about: unknown[]) => {
      process.emit(event, ...about);
      await nextTurn();
    },
    log: () => lines().map((line) => JSON.parse(line) as { level: string; msg: string; err?: { message: string } }),
  };
};
const never = (): Promise<void> => new Promise(() => undefined);

test.each(['SIGTERM', 'SIGINT'] as const)('%s stops the service, and ends the process with 0', async (signal) => {
  const { codes, send, log } = startProcess(() => Promise.resolve());
  await send(signal, signal);
  expect(codes).toEqual([0]);
  expect(log()).toMatchObject([{ level: 'info', msg: 'stopping' }]);
});

test('a service that cannot be stopped ends with 1', async () => {
  const { codes, send, log } = startProcess(() => Promise.reject(new Error('stuck')));
  await send('SIGTERM', 'SIGTERM');
  expect(codes).toEqual([1]);
  expect(log()[1]).toMatchObject({ level: 'error', msg: 'the service did not stop cleanly', err: { message: 'stuck' } });
});

test('a service that does not stop ends with 1 after 15 s', async () => {
  const { clock, codes, send, log } = startProcess(never);
  await send('SIGTERM', 'SIGTERM');
  await clock.advance(14_999);
  expect(codes).toEqual([]);
  await clock.advance(1);
  await nextTurn();
  expect(codes).toEqual([1]);
  expect(log()[1]).toMatchObject({ level: 'error', msg: 'the service did not stop in time' });
});

test('a second signal ends the service at once with 1', async () => {
  const { codes, send } = startProcess(never);
  await send('SIGTERM', 'SIGTERM');
  expect(codes).toEqual([]);
  await send('SIGINT', 'SIGINT');
  expect(codes).toEqual([1]);
});

test('an error that nobody caught is logged without secrets, and ends the service with 1', async () => {
  const { codes, send, log } = startProcess(never);
  await send('uncaughtException', new Error('refused: Bearer abcdefghijk'));
  expect(codes).toEqual([1]);
  expect(log()).toMatchObject([
    {
      level: 'fatal',
      msg: 'an error that nobody caught ends the service',
      err: { message: expect.stringMatching(/^refused: /) },
    },
  ]);
  expect(JSON.stringify(log())).not.toContain('abcdefghijk');
});
