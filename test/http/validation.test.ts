import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { refusals } from '../../src/commands/refusal.js';
import { MAX_BODY_BYTES } from '../../src/http/body.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';
import { everyKind, probe } from '../support/probeRoutes.js';

let api: RunningApi;
let token: string;

beforeAll(async () => {
  api = await startApi({
    routes: () => [
      everyKind,
      probe({ path: '/things/:id', params: { id: Type.String({ maxLength: 10 }) } }),
      probe({
        path: '/things',
        query: Type.Object({
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
          isOn: Type.Optional(Type.Boolean()),
          q: Type.Optional(Type.String()),
        }),
      }),
      probe({
        method: 'post',
        path: '/by-hand',
        body: Type.Object({ name: Type.String() }),
        refusals: ['field_required'],
        precheck: ({ name }) => Promise.resolve(name === undefined ? refusals.fieldRequired('name') : null),
      }),
      probe({ method: 'post', path: '/bodyless' }),
      probe({ method: 'delete', path: '/bodyless' }),
    ],
    projector: false,
  });
  token = await api.mintToken();
});

const post = (raw: string | Uint8Array, path = '/things', headers = {}): Promise<ApiAnswer> =>
  api.call('POST', path, { token, raw, headers });
const send = (body: unknown): Promise<ApiAnswer> => api.call('POST', '/things', { token, body });
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('400 Body required', () => {
  test.each(['/things', '/by-hand'])('POST %s without a body', async (path) => {
    const answer = await api.call('POST', path, { token });
    expect(answer.status).toBe(400);
    expect(answer.body).toStrictEqual({ error: 'Body required', code: 'body_required', details: null });
  });

  test.each(['', '{}', ' { } ', 'null', '\n'])('a write that takes none needs none, and takes %j for none', async (raw) => {
    const headers = { 'idempotency-key': 'bodyless' };
    expect(await api.call('POST', '/bodyless', { token, raw, headers })).toMatchObject({ status: 200, body: { params: {} } });
    expect((await api.call('DELETE', '/bodyless', { token, raw })).status).toBe(200);
  });

  test.each([
    ['an unknown field', '{"dryRun":true}', 400, 'Invalid request body — dryRun: is not a known field'],
    ['something else than an object', '[]', 400, 'Invalid request body — body: must be an object; got a list'],
    ['no JSON', 'dryRun=1', 400, 'Invalid JSON body'],
    ['no JSON behind blanks', `${' '.repeat(10)}x`, 400, 'Invalid JSON body'],
    ['too much', 'x'.repeat(MAX_BODY_BYTES + 1), 413, 'Request body too large'],
  ])('a write that takes none refuses %s: it would be lost in silence', async (_what, raw, status, error) => {
    for (const method of ['POST', 'DELETE']) {
      expect(await api.call(method, '/bodyless', { token, raw })).toMatchObject({ status, body: { error } });
    }
  });
});

describe('400 Invalid JSON body', () => {
  test.each<[string, string | Uint8Array]>([
    ['words', 'hello'],
    ['an object that does not end', '{"name":"a"'],
    ['a trailing comma', '{"name":"a",}'],
    ['a form', 'name=a'],
    ['blanks', '  '],
    ['NaN', '{"size":NaN}'],
    ['undefined', '{"size":undefined}'],
    ['a byte order mark', '\uFEFF{}'],
    ['what is not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['a compressed body', new Uint8Array([0x1f, 0x8b, 0x08, 0, 0, 0])],
    ['brackets without end', '['.repeat(500_000)],
  ])('%s', async (_what, raw) => {
    const answer = await post(raw);
    expect(answer.status).toBe(400);
    expect(answer.body).toStrictEqual({ error: 'Invalid JSON body', code: 'invalid_json', details: null });
  });
});

describe('400 Invalid request body', () => {
  test.each<[string, unknown, string, string]>([
    ['a list', [], 'body', 'must be an object; got a list'],
    ['a text', 'a', 'body', 'must be an object; got text'],
    ['null', null, 'body', 'must be an object; got null'],
    ['an unknown field', { colour: 1 }, 'colour', 'is not a known field'],
    ['a number for a text', { name: 1 }, 'name', 'must be text; got a number'],
    ['null for a text', { name: null }, 'name', 'must be text; got null'],
    ['an object for a text', { name: {} }, 'name', 'must be text; got an object'],
    ['a text for a number', { size: '1' }, 'size', 'must be a number; got text'],
    ['a text for a boolean', { isOn: 'true' }, 'isOn', 'must be true or false; got text'],
    ['a number for a boolean', { isOn: 1 }, 'isOn', 'must be true or false; got a number'],
    ['an empty text', { name: '' }, 'name', 'must not be empty'],
    ['an empty text that has no form either', { slug: '' }, 'slug', 'must not be empty'],
    ['a long text', { name: 'abcdef' }, 'name', 'must have at most 5 characters; got 6'],
    ['no address', { email: 'a@' }, 'email', 'must be an e-mail address, as in ada@example.com; got 2 characters'],
    [
      'no time',
      { at: '2030-02-31T00:00:00Z' },
      'at',
      'must be an ISO 8601 time with its offset, as in 2030-01-31T12:00:00.000Z; got 20 characters',
    ],
    ['none of the values', { kind: 'third' }, 'kind', 'must be one of one, other; got 5 characters'],
    ['a fraction', { count: 1.5 }, 'count', 'must be a whole number; got a fraction'],
    ['neither text nor null', { reason: 1 }, 'reason', 'must be text or null; got a number'],
    ['against a rule with its own words', { slug: 'A' }, 'slug', 'must be of small letters; got 1 character'],
    ['a field missing inside a list', { parts: [{ id: 'a', label: 'A' }, { id: 'b' }] }, 'parts.1.label', 'is required'],
    ['an unknown field inside a list', { parts: [{ id: 'a', label: 'A', x: 1 }] }, 'parts.0.x', 'is not a known field'],
    [
      'too many entries',
      { parts: Array.from({ length: 4 }, () => ({ id: 'a', label: 'A' })) },
      'parts',
      'must have at most 3 entries; got 4',
    ],
    ['a list for an object', { parts: [[]] }, 'parts.0', 'must be an object; got a list'],
  ])('%s', async (_what, body, field, issue) => {
    const answer = await send(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toStrictEqual({
      error: `Invalid request body — ${field}: ${issue}`,
      code: 'invalid_body',
      details: [{ field, issue }],
    });
  });

  test.each([
    ['an integer that JSON numbers cannot hold', '{"count":9007199254740993}', 'count'],
    ['a number without end', '{"size":1e999}', 'size'],
    ['a prototype', '{"__proto__":{"isOn":true}}', '__proto__'],
    ['a constructor', '{"constructor":{}}', 'constructor'],
    ['absurd nesting', `{"anything":${nested(70)}}`, 'body'],
    ['absurd nesting in a wrong place', `{"name":${nested(100_000)}}`, 'name'],
  ])('%s', async (_what, raw, field) => {
    const answer = await post(raw);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ details: [{ field }] });
  });

  test('every violation is listed', async () => {
    const answer = await send({ name: 1, colour: 1, parts: [{ id: 1 }, 'x'] });
    expect((answer.body as { details: unknown[] }).details).toEqual(
      expect.arrayContaining([
        { field: 'colour', issue: 'is not a known field' },
        { field: 'name', issue: 'must be text; got a number' },
        { field: 'parts.0.label', issue: 'is required' },
        { field: 'parts.0.id', issue: 'must be text; got a number' },
        { field: 'parts.1', issue: 'must be an object; got text' },
      ]),
    );
    expect((answer.body as { details: unknown[] }).details).toHaveLength(5);
  });

  test('a huge wrong body is refused in bounded time and words', async () => {
    const startedAt = Date.now();
    const answer = await post(`{"parts":[${'1,'.repeat(450_000)}1]}`);
    expect(answer.status).toBe(400);
    expect(answer.text.length).toBeLessThan(1_000);
    expect(Date.now() - startedAt).toBeLessThan(3_000);
  });

  test('the name of an unknown field is repeated in part only', async () => {
    const answer = await post(`{"${'x'.repeat(100_000)}":1}`);
    expect(answer.status).toBe(400);
    expect(answer.text.length).toBeLessThan(1_000);
  });

  test('checks by hand come first, in their own words', async () => {
    const answer = await post('{"colour":1}', '/by-hand');
    const details = [
      { field: 'name', issue: 'is required' },
      { field: 'colour', issue: 'is not a known field' },
    ];
    expect(answer.body).toStrictEqual({ error: 'name is required', code: 'field_required', details });
  });
});

describe('bodies that are right', () => {
  test.each<[string, string]>([
    ['NUL and lone surrogates', '{"anything":"\\u0000 \\ud800 é😀"}'],
    ['a large integer', '{"count":9007199254740991}'],
    ['nesting that people could mean', `{"anything":${nested(60)}}`],
    ['null where it is allowed', '{"reason":null}'],
  ])('%s arrive as they were sent', async (_what, raw) => {
    const answer = await post(raw);
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(raw);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/vnd.api+json'])(
    'JSON is JSON, also called %s',
    async (contentType) => {
      expect((await post('{"name":"a"}', '/things', { 'content-type': contentType })).status).toBe(200);
    },
  );
});

describe('413 Request body too large', () => {
  test('said before it is sent', async () => {
    const answer = await post('x'.repeat(MAX_BODY_BYTES + 1));
    expect(answer.status).toBe(413);
    expect(answer.body).toStrictEqual({ error: 'Request body too large', code: 'body_too_large', details: null });
  });

  test('found out while it is sent in pieces', async () => {
    const pieces = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (let sent = 0; sent <= MAX_BODY_BYTES; sent += 65_536) controller.enqueue(new Uint8Array(65_536));
        controller.close();
      },
    });
    const answer = await fetch(`${api.url}/v1/things`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: pieces,
      duplex: 'half',
    });
    expect(answer.status).toBe(413);
  });

  test('one of exactly 1 MiB is taken', async () => {
    const text = 'x'.repeat(MAX_BODY_BYTES - '{"anything":""}'.length);
    expect((await post(`{"anything":"${text}"}`)).status).toBe(200);
  });
});

describe('415 Content-Encoding is not supported', () => {
  const compressed = gzipSync('{"name":"a"}');
  const refused = {
    status: 415,
    body: {
      error: 'Content-Encoding is not supported: send the body as it is',
      code: 'content_encoding_not_supported',
      details: null,
    },
  };

  test.each(['gzip', 'deflate', 'br', 'GZIP', 'gzip, identity', 'nonsense'])('%s', async (encoding) => {
    const answer = await post(compressed, '/things', { 'content-encoding': encoding });
    expect(answer).toMatchObject(refused);
    expect(answer.headers.get('accept-encoding')).toBe('identity');
  });

  test('of a write that takes no body', async () => {
    expect(await post(compressed, '/bodyless', { 'content-encoding': 'gzip' })).toMatchObject(refused);
  });

  test('identity is none, and without a body there is nothing to decode', async () => {
    expect((await post('{"name":"a"}', '/things', { 'content-encoding': 'identity' })).status).toBe(200);
    expect((await post('{"name":"a"}', '/things', { 'content-encoding': '' })).status).toBe(200);
    const headers = { 'content-encoding': 'gzip' };
    expect((await api.call('POST', '/bodyless', { token, headers })).status).toBe(200);
  });
});

describe('400 Invalid path params', () => {
  test.each([
    ['too long', 'abcdefghijk', 'id: must have at most 10 characters; got 11'],
    ['a control character', 'a%00b', 'id: must not hold control characters'],
    ['what is not UTF-8', '%ff', 'path: must be percent-encoded UTF-8'],
    ['half an escape', '%', 'path: must be percent-encoded UTF-8'],
  ])('%s', async (_what, id, words) => {
    const answer = await api.call('GET', `/things/${id}`, { token });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: `Invalid path params — ${words}` });
  });

  test('what is encoded arrives decoded', async () => {
    const answer = await api.call('GET', '/things/%C3%A9%20%2F', { token });
    expect(answer.body).toMatchObject({ params: { id: 'é /' } });
  });
});

describe('400 Invalid query', () => {
  test.each([
    ['no number', 'limit=ten', 'limit: must be a whole number; got text'],
    ['too small', 'limit=0', 'limit: must be at least 1; got 0'],
    ['too large', 'limit=201', 'limit: must be at most 200; got 201'],
    ['beyond all numbers', `limit=${'9'.repeat(400)}`, 'limit: must be at most 200'],
    ['below all numbers', `limit=-${'9'.repeat(400)}`, 'limit: must be at least 1'],
    ['a fraction', 'limit=1.5', 'limit: must be a whole number; got text'],
    ...[
      '',
      '0x10',
      '0b1',
      '0o7',
      '%205%20',
      '5%0A',
      '+5',
      '%2B5',
      '5.0',
      '1e2',
      '1e400',
      '-Infinity',
      '5_0',
      '%EF%BC%95',
      '--5',
    ].map((text) => [`a number in other words, "${text}"`, `limit=${text}`, 'limit: must be a whole number; got text'] as const),
    ['a number twice', 'limit=5&limit=5', 'limit: must be a whole number; got a list'],
    ...['perhaps', '', '1', '0', 'TRUE', '%20true', 'null'].map(
      (text) => [`no boolean, "${text}"`, `isOn=${text}`, 'isOn: must be true or false; got text'] as const,
    ),
    ['twice', 'q=a&q=b', 'q: must be text; got a list'],
    ['unknown', 'q=a&x=1', 'x: is not a known field'],
    ['what nobody knows', 'limt=10', 'limt: is not a known field'],
    ['what no text should do', '__proto__=1', '__proto__: is not a known field'],
    ['a dry run of a read', 'dryRun=1', 'dryRun: is not a known field'],
  ])('%s', async (_what, query, words) => {
    const answer = await api.call('GET', `/things?${query}`, { token });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: `Invalid query — ${words}` });
  });

  test('texts become what they stand for, defaults are filled in', async () => {
    const answer = await api.call('GET', '/things?isOn=true&q=10', { token });
    expect(answer.body).toMatchObject({ query: { limit: 50, isOn: true, q: '10' } });
    const other = await api.call('GET', '/things?isOn=false&limit=007', { token });
    expect(other.body).toMatchObject({ query: { limit: 7, isOn: false } });
  });
});
