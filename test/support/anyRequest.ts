import fc from 'fast-check';
import type { Route } from '../../src/http/route.js';
import { nearly, type Known } from './anyJson.js';
import { pathTo, type Everybody } from './everybody.js';
import { chunked } from './rawHttp.js';

/** A request that something may be wrong with, or nothing. */
export interface Sent extends fc.WithToStringMethod {
  readonly route: Route;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

const segments = [
  '%',
  '%f',
  '%ff',
  '%00',
  '%C0%AE',
  '%ED%A0%80',
  '..',
  '.',
  '',
  '%2e%2e%2fetc%2fpasswd',
  '..%5C..',
  '%F0%9F%92%A5',
  'é💥',
  '__proto__',
  'constructor',
  'a'.repeat(201),
  'a'.repeat(5_000),
  '%E2%80%A8'.repeat(60),
  "'%20or%201--",
  'a;b=c',
  'null',
  '-1',
] as const;

const texts = fc.constantFrom(
  '',
  '1',
  'true',
  'null',
  '-1',
  '1e400',
  '9007199254740993',
  '%',
  '%ff',
  '%00',
  '%ED%A0%80',
  '💥',
  '[]',
  '2030-01-01T00:00:00Z',
  '2030-01-01T00:00:00%2B14:00',
  'x'.repeat(3_000),
  "'",
  'MQ',
  '__proto__',
);

const queryNames = [
  'dryRun',
  'limit',
  'cursor',
  'q',
  'email',
  'at',
  'from',
  'to',
  'status',
  'clientId',
  'archived',
  '__proto__',
  'a[b]',
  '',
  '%',
];

const query = fc
  .array(fc.tuple(fc.constantFrom(...queryNames), texts), { maxLength: 3 })
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`));

const queryFor = (route: Route): fc.Arbitrary<string> => {
  const own = Object.keys(route.query?.properties ?? {});
  const right =
    own.length === 0 ? fc.constant('') : fc.tuple(fc.constantFrom(...own), texts).map(([name, text]) => `?${name}=${text}`);
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('', route.method === 'get' ? '' : '?dryRun=1') },
    { weight: 2, arbitrary: right },
    { weight: 2, arbitrary: query },
  );
};

const header = fc.oneof(
  ...Object.entries({
    'content-type': ['text/plain', 'application/json; charset=utf-16', '', ';', 'multipart/form-data', 'a'.repeat(2_000)],
    'content-encoding': ['gzip', 'br, br'],
    'idempotency-key': ['k', 'l', '', 'a'.repeat(255), 'a'.repeat(256), 'é', 'a b', '__proto__'],
    'x-request-id': ['mine', '', 'a b', 'é💥', 'x'.repeat(5_000), '<script>', '"\\'],
    'if-match': ['*', '', '"0-x"', '"1-x", W/"2-x"', 'nonsense', '"99999999999999999999-"', '"'.repeat(999), '"-1-x"'],
    'if-none-match': ['*', '', 'W/""', '"é"', '"a",'.repeat(1_000), '\\'],
    accept: ['text/html', '*/*;q=0', ';;', 'text/event-stream'],
    authorization: [
      '',
      'Bearer',
      'Bearer  x y',
      'Basic YTpi',
      'bearer svc_pat_',
      `Bearer ${'a'.repeat(9_000)}`,
      'Bearer eyJhbGciOiJub25lIn0.e30.',
      'é',
    ],
    host: ['', 'é', 'evil.example:99999999', 'a, b'],
    origin: ['null', 'https://evil.example', 'é'],
    cookie: ['a=b', '=', '__proto__=1'],
    expect: ['100-continue', 'the unexpected'],
    range: ['bytes=0-1', 'bytes=9-1'],
    'x-http-method-override': ['DELETE'],
    'x-forwarded-for': ['::1', ','],
    'accept-encoding': ['gzip;q=x', '*'],
    te: ['trailers'],
    upgrade: ['websocket', 'h2c'],
  }).map(([name, values]) => fc.constantFrom(...values).map((value): readonly [string, string] => [name, value])),
);

const wholeBodies = fc.constantFrom(
  '',
  '{',
  '{"name":"x"',
  '}{',
  'null',
  '[]',
  '"text"',
  '0',
  'undefined',
  "{'a':1}",
  '{"a":1}{"b":2}',
  '\ufeff{}',
  '{"a":NaN}',
  '{"a":1,}',
  `{"a":${'['.repeat(100_000)}`,
  'a=b&c=d',
  `{"a":"${'x'.repeat(1_000_000)}"}`,
);

const invalidUtf8 = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xed, 0xa0, 0x80]), Buffer.from('"}')]);

const boundary = 'b';

/** Parts of a form, whole and broken, in any order. */
const forms = fc
  .array(
    fc.constantFrom(
      `--${boundary}`,
      `--${boundary}--`,
      'content-disposition: form-data; name="file"; filename="a.pdf"',
      'content-disposition: form-data; name="file"; filename="\0"',
      'content-disposition: form-data; name="name"',
      'content-disposition: form-data; name="file"; filename*=utf-8\'\'%ff',
      'content-type: multipart/mixed; boundary=c',
      'no head',
      ':',
      '',
      '%PDF-1.7',
      'x'.repeat(90_000),
    ),
    { maxLength: 9 },
  )
  .map((lines) => Buffer.from(lines.join('\r\n')));

const meaningful = ({ clientIds }: Everybody): Known => ({
  clientId: Object.values(clientIds),
  templateId: ['business'],
  features: [[], ['content'], ['documents', 'content']],
  previewUrlOverride: ['', 'https://example.com/'],
  revision: [0, 1, 2, 3],
});

const bodyFor = ({ body, upload }: Route, everybody: Everybody): fc.Arbitrary<Buffer> => {
  if (upload !== undefined) return forms;
  const whole = fc.oneof(
    { weight: 12, arbitrary: wholeBodies.map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.constant(invalidUtf8) },
  );
  if (body === undefined)
    return fc.oneof({ weight: 5, arbitrary: fc.constant(Buffer.alloc(0)) }, { weight: 1, arbitrary: whole });
  const right = nearly(body, meaningful(everybody)).map((text) => Buffer.from(text));
  return fc.oneof(
    { weight: 14, arbitrary: right },
    { weight: 1, arbitrary: fc.tuple(right, fc.nat()).map(([all, at]) => all.subarray(0, at % (all.length + 1))) },
    { weight: 1, arbitrary: whole },
  );
};

const targetFor = (route: Route, everybody: Everybody): fc.Arbitrary<string> => {
  const parameters = [...route.path.matchAll(/:\w+/g)].length;
  const right = pathTo(route.path, everybody);
  const pattern = fc.array(fc.constantFrom(...segments), { minLength: parameters, maxLength: parameters }).map((values) => {
    const left = [...values];
    return route.path.replaceAll(/:\w+/g, () => left.shift() ?? '');
  });
  const bent = fc.constantFrom(
    `/${right}`,
    `${right}/`,
    `${right}/..`,
    `${right}//`,
    `${right}#x`,
    `${right};a`,
    right.toUpperCase(),
    `${right}%`,
  );
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(right) },
    { weight: parameters === 0 ? 0 : 3, arbitrary: pattern },
    { weight: 1, arbitrary: bent },
  );
};

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'FOO', 'get', ''];

/** Requests of a route, most of which get past the first check. */
export const anyRequestOf = (route: Route, everybody: Everybody): fc.Arbitrary<Sent> => {
  const { admin, owner, viewer, stranger } = everybody.credentials;
  const credential: fc.Arbitrary<readonly string[]> = fc.oneof(
    { weight: 8, arbitrary: fc.constant(['/v1', admin.token]) },
    { weight: 2, arbitrary: fc.constant(['', admin.jwt]) },
    { weight: 2, arbitrary: fc.constantFrom(['/v1', owner.token], ['/v1', viewer.token], ['', stranger.jwt]) },
    { weight: 1, arbitrary: fc.constantFrom(['', ''], ['/v1', admin.jwt], ['', admin.token]) },
  );
  return fc
    .record({
      credential,
      method: fc.oneof(
        { weight: 12, arbitrary: fc.constant(route.method.toUpperCase()) },
        { weight: 1, arbitrary: fc.constantFrom(...methods) },
      ),
      target: targetFor(route, everybody),
      asked: queryFor(route),
      extra: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(header, { maxLength: 4 }) }),
      body: bodyFor(route, everybody),
      framing: fc.constantFrom('length', 'length', 'length', 'length', 'chunked', 'none'),
    })
    .map(({ credential: [entry = '', secret = ''], method, target, asked, extra, body, framing }) => {
      const isChunked = framing === 'chunked';
      const framed =
        framing === 'none' ? [] : isChunked ? [['transfer-encoding', 'chunked']] : [['content-length', `${body.length}`]];
      const headers = [
        ['host', 'doorstep'],
        ['content-type', route.upload === undefined ? 'application/json' : `multipart/form-data; boundary=${boundary}`],
        ...(secret === '' ? [] : [['authorization', `Bearer ${secret}`]]),
        ...extra,
        ...(body.length === 0 && !isChunked ? [] : framed),
      ] as (readonly [string, string])[];
      const sent = { route, method, target: `${entry}${target}${asked}`, headers, body: isChunked ? chunked(body) : body };
      return { ...sent, [fc.toStringMethod]: () => textOf(sent) };
    });
};

const textOf = ({ method, target, headers, body }: Omit<Sent, typeof fc.toStringMethod>): string =>
  JSON.stringify({ method, target, headers, body: body.toString().slice(0, 1_000), bytes: body.length });
