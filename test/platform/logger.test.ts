import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { createLogger } from '../../src/platform/logger.js';
import type { Logger } from '../../src/platform/logger.js';
import type { LogLevel } from '../../src/platform/settings/settings.js';

const logTo = (level: LogLevel, use: (logger: Logger) => void): string[] => {
  const lines: string[] = [];
  use(createLogger({ level, destination: { write: (line) => void lines.push(line) } }));
  return lines;
};

const canary = 'canary-5f1c';

describe('logger', () => {
  test('writes JSON lines with ISO times and levels as words', () => {
    const [line] = logTo('info', (logger) => {
      logger.child({ part: 'worker' }).warn({ jobId: 'job-1' }, 'step failed');
    });
    expect(JSON.parse(line ?? '')).toMatchObject({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown,
      part: 'worker',
      jobId: 'job-1',
      msg: 'step failed',
    });
  });

  test.each([
    ['silent', 0],
    ['error', 1],
    ['trace', 3],
  ] as const)('%s lets %i of three lines through', (level, count) => {
    const lines = logTo(level, (logger) => {
      logger.trace('one');
      logger.info('two');
      logger.error('three');
    });
    expect(lines).toHaveLength(count);
  });

  test.each<[string, Record<string, unknown>]>([
    ['a request', { req: { headers: { authorization: canary, cookie: canary, 'proxy-authorization': canary } } }],
    ['an answer', { res: { headers: { 'set-cookie': [canary] } } }],
    ['a token at the top', { token: canary, 'set-cookie': canary }],
    ['a grant', { body: { access_token: canary, refresh_token: canary, id_token: canary, client_secret: canary } }],
    ['settings', { settings: { encryptionKey: Buffer.from(canary), mail: { password: canary } } }],
    ['an attached service', { service: { secrets: { webhook: canary } } }],
    ['a list', { calls: [{ headers: { cookie: canary } }] }],
    ['an error', { err: Object.assign(new Error('refused'), { request: { headers: { authorization: canary } } }) }],
  ])('%s is written without its secrets', (_what, fields) => {
    const [line] = logTo('info', (logger) => {
      logger.info(fields, 'seen');
    });
    expect(line).toContain('[removed]');
    expect(line).not.toContain(canary);
    expect(line).not.toContain(Buffer.from(canary).toJSON().data.join());
  });

  test('what a child adds to every line is written without its secrets', () => {
    const [line] = logTo('info', (logger) => {
      logger.child({ provider: { token: canary } }).info('asked');
    });
    expect(JSON.parse(line ?? '')).toMatchObject({ provider: { token: '[removed]' } });
  });

  test('the caller’s fields are not modified', () => {
    const fields = { request: { headers: { cookie: canary } } };
    logTo('info', (logger) => {
      logger.info(fields, 'seen');
    });
    expect(fields).toStrictEqual({ request: { headers: { cookie: canary } } });
  });

  test.each([
    ['an access token', 'svc_pat_0123456789abcdefghij0123456789abcdefghijABCDEF'],
    ['a bearer credential', 'Bearer abc.def-ghi_jkl'],
    ['a JWT', 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'],
  ])('%s in the middle of a text is not written', (_what, credential) => {
    const [line] = logTo('info', (logger) => {
      logger.error({ err: new Error(`refused: ${credential}`), path: `/x?token=${credential}` }, `got ${credential} again`);
    });
    expect(line).not.toContain(credential);
    expect(JSON.parse(line ?? '')).toMatchObject({ msg: 'got [removed] again' });
  });

  test('the visible prefix of a token stays readable', () => {
    const [line] = logTo('info', (logger) => {
      logger.info({ prefix: 'svc_pat_0123' }, 'minted');
    });
    expect(line).toContain('svc_pat_0123');
  });

  test('what was logged just before the process ends is written', async () => {
    const url = (path: string): string => new URL(path, import.meta.url).href;
    const program = `
      import { createLogger } from ${JSON.stringify(url('../../src/platform/logger.ts'))};
      const logger = createLogger({ level: 'info' });
      logger.info('first');
      setImmediate(() => {
        logger.info('second');
        logger.fatal('third');
        logger.info('fourth');
        process.exit();
      });`;
    const typescript = fileURLToPath(url('../support/eventStoreTypescript.mjs'));
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...['--import', typescript, '--input-type=module', '--eval', program],
    ]);
    const words = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    // A fatal line does not wait for what is being written.
    expect(new Set(words)).toStrictEqual(new Set(['first', 'second', 'third', 'fourth']));
    expect(words).toHaveLength(4);
  });
});
