import { beforeAll, describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { Refused, refusals } from '../../src/commands/refusal.js';
import { etagOf, isKnown, revisionsAllowed } from '../../src/http/conditional.js';
import { pageQuery } from '../../src/http/paging.js';
import type { Answer, RouteRequest } from '../../src/http/route.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { probe } from '../support/probeRoutes.js';

let api: RunningApi;
let token: string;
/** The resource: its revision, and its text. */
let revision = 4n;
let text = 'four';
const tried: (bigint | undefined)[] = [];
const long = 'words that recur '.repeat(100);
const huge = long.repeat(100);

const write = ({ expectation: { expectedRevision }, body }: RouteRequest): Promise<{ body: unknown; revision: bigint }> => {
  tried.push(expectedRevision);
  if (expectedRevision !== undefined && expectedRevision !== revision) return Promise.reject(new Refused(refusals.stale()));
  revision += 1n;
  ({ text } = body as { text: string });
  return Promise.resolve({ body: { text }, revision });
};

const answerWritten = (_: RouteRequest, answer: unknown): Promise<Answer> => Promise.resolve(answer as Answer);

beforeAll(async () => {
  const body = Type.Object({ text: Type.String() });
  api = await startApi({
    projector: false,
    routes: () => [
      probe({ path: '/note', answer: () => Promise.resolve({ body: { text }, revision }) }),
      probe({ method: 'put', path: '/note', ifMatch: 'honoured', body, act: write, answer: answerWritten }),
      probe({ method: 'patch', path: '/note', ifMatch: 'honoured', body, act: write, answer: answerWritten }),
      probe({ method: 'post', path: '/note', body, act: write, answer: answerWritten }),
      probe({
        path: '/notes',
        paging: true,
        query: Type.Object({ ...pageQuery, q: Type.Optional(Type.String()) }),
        answer: () => Promise.resolve({ body: [{ text: 'é' }], next: 'c 1' }),
      }),
      probe({ path: '/long', answer: () => Promise.resolve({ body: { long }, revision: 4n }) }),
      probe({ path: '/huge', answer: () => Promise.resolve({ body: { huge } }) }),
      probe({ path: '/limit', answer: () => Promise.resolve({ body: 'x'.repeat(1_022) }) }),
      probe({ path: '/letters', answer: () => Promise.resolve({ body: 'ü'.repeat(600) }) }),
      probe({ path: '/nothing', answer: () => Promise.resolve({}) }),
    ],
  });
  token = await api.mintToken();
});

const read = (headers = {}, path = '/note', method = 'GET'): Promise<ApiAnswer> => api.call(method, path, { token, headers });
const put = (value: string, ifMatch?: string, method = 'PUT'): Promise<ApiAnswer> =>
  api.call(method, '/note', { token, body: { text: value }, headers: ifMatch === undefined ? {} : { 'if-match': ifMatch } });
const etagNow = async (): Promise<string> => (await read()).headers.get('etag') ?? '';

describe('ETag', () => {
  test('is strong, and names revision and body', async () => {
    const etag = await etagNow();
    expect(etag).toMatch(/^"4-[\w-]{22}"$/);
    expect(await etagNow()).toBe(etag);
  });

  test('changes with the body, with the revision, and stays otherwise', () => {
    const etag = etagOf('a', 1n);
    expect(etagOf(Buffer.from('a'), 1n)).toBe(etag);
    expect(etagOf('b', 1n)).not.toBe(etag);
    expect(etagOf('a', 2n)).not.toBe(etag);
    expect(etagOf('a')).not.toBe(etag);
  });

  test('is there for lists, and for what a write answers with', async () => {
    expect((await read({}, '/notes')).headers.get('etag')).toMatch(/^"[\w-]{22}"$/);
    const written = await put('five');
    expect(written.headers.get('etag')).toBe(await etagNow());
  });

  test('is not there where there is nothing', async () => {
    const answer = await read({}, '/nothing');
    expect([answer.status, answer.headers.get('etag'), answer.headers.get('content-length')]).toStrictEqual([204, null, null]);
  });

  test('answers are for their caller, and asked for again each time', async () => {
    const { headers } = await read();
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('vary')).toBe('authorization');
    expect((await put('six')).headers.get('cache-control')).toBe('no-store');
  });
});

describe('If-None-Match', () => {
  test.each<[string, (etag: string) => string]>([
    ['the tag', (etag) => etag],
    ['one of several', (etag) => `"x", ${etag} , "y"`],
    ['the tag, weakened on the way', (etag) => `W/${etag}`],
    ['any', () => '*'],
  ])('%s: 304 without a body, with the tag', async (_what, make) => {
    const etag = await etagNow();
    for (const method of ['GET', 'HEAD']) {
      const answer = await read({ 'if-none-match': make(etag) }, '/note', method);
      expect([answer.status, answer.text, answer.headers.get('etag')]).toStrictEqual([304, '', etag]);
      expect(answer.headers.get('content-type')).toBeNull();
    }
  });

  test('of another state: 200 with the body', async () => {
    const answer = await read({ 'if-none-match': '"3-abc", nonsense' });
    expect([answer.status, answer.body]).toStrictEqual([200, { text }]);
  });

  test('is for reading only', async () => {
    const answer = await api.call('PUT', '/note', { token, body: { text: 'x' }, headers: { 'if-none-match': '*' } });
    expect(answer.status).toBe(200);
  });

  test('nonsense names nothing', () => {
    expect(isKnown('', '"a"')).toBe(false);
    expect(isKnown('a', '"a"')).toBe(false);
    expect(isKnown('""', '""')).toBe(true);
  });
});

describe('If-Match', () => {
  test.each(['PUT', 'PATCH'])('the state there is: %s is done, once', async (method) => {
    const etag = await etagNow();
    expect((await put('next', etag, method)).status).toBe(200);
    const again = await put('after', etag, method);
    expect(again.status).toBe(400);
    expect(again.body).toStrictEqual({ error: 'Someone else saved while you were editing', code: 'stale', details: null });
    expect(text).toBe('next');
  });

  test('any of several states', async () => {
    const etag = await etagNow();
    expect((await put('several', `"0-x", ${etag}, "1-x"`)).status).toBe(200);
    expect((await put('again', `"0-x", "1-x"`)).status).toBe(400);
  });

  test.each(['"0-abc"', '"nonsense"', 'nonsense', '""', '"99999999999999999999-x"', '"-1-x"'])('%s: 400', async (ifMatch) => {
    expect((await put('no', ifMatch)).body).toMatchObject({ error: 'Someone else saved while you were editing' });
  });

  test('a weak tag never matches', async () => {
    expect((await put('no', `W/${await etagNow()}`)).status).toBe(400);
  });

  test('any state, and none asked for', async () => {
    tried.length = 0;
    expect((await put('star', '*')).status).toBe(200);
    expect((await put('none')).status).toBe(200);
    expect(tried).toStrictEqual([undefined, undefined]);
  });

  test('of another body of the same revision: what a client saw is not what an admin saw', async () => {
    expect((await put('clients’', `"${revision}-anotherbody"`)).status).toBe(200);
  });

  test.each(['"0-x"', '*', ''])('%j is refused by a write that has no use for it', async (ifMatch) => {
    const answer = await put('post', ifMatch, 'POST');
    expect([answer.status, answer.body]).toStrictEqual([
      400,
      { error: 'If-Match is not supported here', code: 'if_match_not_supported', details: null },
    ]);
    expect(text).not.toBe('post');
  });

  test('a thousand tags cost no thousand attempts', async () => {
    tried.length = 0;
    await put('many', Array.from({ length: 1_000 }, (_, index) => `"${index + 1_000}-x"`).join());
    expect(tried.length).toBeLessThan(20);
    expect(revisionsAllowed('"1-a", W/"2-b", "3-c"')).toStrictEqual([1n, 3n]);
  });
});

describe('Link', () => {
  test('names the next page at the public address, with the query that was asked', async () => {
    const answer = await read({}, '/notes?limit=2&q=a%20b&cursor=old');
    expect(answer.headers.get('link')).toBe(`<${api.url}/v1/notes?limit=2&q=a+b&cursor=c+1>; rel="next"`);
  });
});

describe('Accept-Encoding', () => {
  const readAs = (accepted: string, path = '/long', headers = {}, method = 'GET'): Promise<ApiAnswer> =>
    read({ 'accept-encoding': accepted, ...headers }, path, method);
  const formOf = ({ headers }: ApiAnswer): string | null => headers.get('content-encoding');

  test.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, gzip;q=0, *', null],
    ['identity', null],
    ['deflate', null],
    ['', null],
  ])('%j: %s', async (accepted, form) => {
    const answer = await readAs(accepted);
    expect(formOf(answer)).toBe(form);
    expect(answer.body).toStrictEqual({ long });
    expect(answer.headers.get('vary')).toBe('authorization, accept-encoding');
    const length = Number(answer.headers.get('content-length'));
    if (form === null) expect(length).toBe(Buffer.byteLength(answer.text));
    else expect(length).toBeLessThan(300);
  });

  test('also of what takes a while to compress, and for HEAD', async () => {
    const answer = await readAs('br', '/huge');
    expect([formOf(answer), answer.body]).toStrictEqual(['br', { huge }]);
    const head = await readAs('br', '/huge', {}, 'HEAD');
    expect(head.text).toBe('');
    for (const name of ['content-encoding', 'content-length', 'etag'])
      expect(head.headers.get(name)).toBe(answer.headers.get(name));
  });

  test('short answers stay as they are, and events always', async () => {
    for (const path of ['/note', '/limit', '/nothing']) {
      const answer = await readAs('br, gzip', path);
      expect([formOf(answer), answer.headers.get('vary') ?? '']).toStrictEqual([null, expect.not.stringContaining('encoding')]);
    }
  });

  test('what is long is long in bytes', async () => {
    const answer = await readAs('gzip', '/letters');
    expect([formOf(answer), answer.body]).toStrictEqual(['gzip', 'ü'.repeat(600)]);
  });

  test('each form has an ETag of its own; any of them is known, and good for If-Match', async () => {
    const [plain = '', gzip = '', br = ''] = await Promise.all(
      ['identity', 'gzip', 'br'].map(async (accepted) => (await readAs(accepted)).headers.get('etag') ?? ''),
    );
    expect(new Set([plain, gzip, br]).size).toBe(3);
    for (const known of [plain, gzip, br]) {
      const answer = await readAs('gzip', '/long', { 'if-none-match': known });
      expect([answer.status, answer.text, formOf(answer), answer.headers.get('etag')]).toStrictEqual([304, '', null, gzip]);
      expect(answer.headers.get('vary')).toBe('authorization, accept-encoding');
      expect(revisionsAllowed(known)).toStrictEqual([4n]);
    }
  });
});

describe('HEAD', () => {
  test('is GET without the body', async () => {
    const got = await read({}, '/notes');
    const head = await read({}, '/notes', 'HEAD');
    expect([head.status, head.text]).toStrictEqual([200, '']);
    for (const name of ['content-type', 'content-length', 'etag', 'link'])
      expect(head.headers.get(name)).toBe(got.headers.get(name));
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(got.text)));
  });
});
