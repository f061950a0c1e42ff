import { describe, expect, test } from '@jest/globals';
import { createLogger } from '../../src/platform/logger.js';
import { createLogLines } from '../../src/platform/logLines.js';

/** What a terminal shows of what `log` logs. */
const shown = (log: (logger: ReturnType<typeof createLogger>) => void, inColour = false): string => {
  const toLines = createLogLines(inColour);
  let text = '';
  log(createLogger({ level: 'trace', destination: { write: (line: string) => void (text += toLines(line)) } }));
  return text;
};

describe('the log on a terminal', () => {
  test('is a line with time, level, message and fields', () => {
    const text = shown((logger) => {
      logger.child({ worker: 'seo' }).warn({ attempt: 2, why: { code: 1 } }, 'trying again');
    });
    expect(text).toMatch(/^\d\d:\d\d:\d\d\.\d{3} WARN {2}trying again worker=seo attempt=2 why=\{"code":1\}\n$/);
  });

  test('says of a request what people look for first', () => {
    const request = {
      requestId: 'r1',
      method: 'GET',
      route: '/me',
      status: 404,
      durationMs: 12,
      mode: 'token',
      path: '/me',
      code: 'x',
    };
    expect(
      shown((logger) => {
        logger.info(request, 'request');
      }),
    ).toMatch(/ INFO {2}GET \/me 404 12 ms requestId=r1 code=x\n$/);
  });

  test('has a code to sign in with in a line of its own', () => {
    const signIn = (logger: ReturnType<typeof createLogger>): void => {
      logger.info({ link: 'http://x/link', code: '1234 5678' }, 'to sign in, open this link');
    };
    expect(shown(signIn)).toMatch(/ to sign in, open this link\n\n {4}code {3}1234 5678 \n {4}link {2}http:\/\/x\/link\n\n$/);
    expect(shown(signIn, true)).toContain('\u001b[7m 1234 5678 \u001b[27m');
  });

  test('has the stack of an error, and no secret', () => {
    const text = shown((logger) => {
      logger.error({ err: new Error('it broke with Bearer abc'), token: 'secret' }, 'failed');
    });
    expect(text).toMatch(/ ERROR failed token=\[removed\]\n {4}Error: it broke with \[removed\]\n {8}at /);
  });

  test('has no escape sequence that somebody else sent', () => {
    expect(
      shown((logger) => {
        logger.info({ path: '/\u001b[2Jx' }, 'a\u001b[31mb');
      }),
    ).not.toContain('\u001b');
  });
});
