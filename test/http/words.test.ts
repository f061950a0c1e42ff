import { beforeAll, describe, expect, test } from '@jest/globals';
import { Type, type TSchema } from 'typebox';
import { bodyValidator, closed, pathParamsOf, textsValidator } from '../../src/http/validation.js';
import { formatWords } from '../../src/http/issues.js';
import { HexColour } from '../../src/http/schemas.js';
import { createRoutes } from '../../src/http/routes/index.js';
import type { Route } from '../../src/http/route.js';
import { startApi, type RunningApi } from '../support/http.js';
import { refusedInputs, schemasIn } from '../support/refusedInputs.js';

let api: RunningApi;
let token: string;
let routes: readonly Route[] = [];

beforeAll(async () => {
  api = await startApi({
    routes: (parts) => {
      routes = createRoutes(parts);
      return routes;
    },
  });
  token = await api.mintToken();
});

/** A pattern, or how validators and schemas talk among themselves. */
const jargon =
  /\^|\\|\[A-Z|\(\?|must match|must NOT|must be (string|object|array|integer|boolean|equal)|[<>]=|oneOf|anyOf|additionalProperties|x-issue|pattern|schema|undefined|\[object|not as it is described/;

const inputsOf = (route: Route): readonly (readonly [string, TSchema, 'body' | 'texts'])[] => [
  ...(route.body === undefined ? [] : [['body', route.body, 'body'] as const]),
  ['path', pathParamsOf(route), 'texts'],
  ...(route.query === undefined ? [] : [['query', route.query, 'texts'] as const]),
];

test('whatever a route refuses, it says so in words for people', () => {
  const tried = new Map<string, number>();
  for (const route of routes) {
    for (const [place, schema, kind] of inputsOf(route)) {
      const validate = kind === 'body' ? bodyValidator(schema) : textsValidator(schema as Parameters<typeof textsValidator>[0]);
      for (const { keyword, input } of refusedInputs(closed(schema), kind)) {
        const what = `${route.operationId}, ${place}, ${keyword}: ${JSON.stringify(input).slice(0, 200)}`;
        const violations = validate(input as Record<string, unknown>);
        expect([what, violations.length > 0]).toStrictEqual([what, true]);
        for (const { field, issue } of violations) {
          expect(`${what} → ${issue}`).not.toMatch(new RegExp(` → .*(${jargon.source})`));
          expect(field).not.toBe('');
          expect(issue).not.toBe('');
        }
        tried.set(keyword, (tried.get(keyword) ?? 0) + 1);
      }
    }
  }
  const keywords = ['type', 'enum', 'pattern', 'format', 'minLength', 'maxLength', 'minimum', 'maximum', 'maxItems', 'minItems'];
  expect([...tried.keys()]).toEqual(expect.arrayContaining([...keywords, 'uniqueItems', 'additionalProperties', 'required']));
});

test('every pattern and every format of a request has its words', () => {
  for (const route of routes) {
    for (const [, schema] of inputsOf(route)) {
      for (const part of schemasIn(closed(schema))) {
        const { pattern, format, 'x-issue': words } = part as { pattern?: string; format?: string; 'x-issue'?: string };
        const said = `${route.operationId}: ${JSON.stringify(part)}`;
        if (pattern !== undefined) expect([said, typeof words]).toStrictEqual([said, 'string']);
        if (format !== undefined) expect([said, typeof (words ?? formatWords[format])]).toStrictEqual([said, 'string']);
      }
    }
  }
});

describe('what came', () => {
  const issueFor = (schema: TSchema, value: unknown): string =>
    bodyValidator(Type.Object({ it: schema }))({ it: value })[0]?.issue ?? '';
  const token38 = `svc_pat_${'a'.repeat(20)}`;

  test.each<[string, TSchema, unknown, string]>([
    ['a short value of an enum', Type.Enum(['one', 'two']), 'three', 'must be one of one, two; got 5 characters'],
    ['a long one', Type.Enum(['one', 'two']), 'x'.repeat(31), 'must be one of one, two; got 31 characters'],
    ['a token', Type.Enum(['one', 'two']), token38, 'must be one of one, two; got 28 characters'],
    ['free text', Type.String({ maxLength: 2 }), 'secret', 'must have at most 2 characters; got 6'],
    ['neither', Type.Union([Type.String(), Type.Null()]), 1, 'must be text or null; got a number'],
    [
      'text of another form where null may stand',
      Type.Union([HexColour(), Type.Null()]),
      'red',
      'must be #RRGGBB hex; got 3 characters',
    ],
    ['true', Type.String(), true, 'must be text; got true'],
    ['too small a number', Type.Integer({ minimum: 1 }), -3, 'must be at least 1; got -3'],
  ])('%s', (_what, schema, value, issue) => {
    expect(issueFor(schema, value)).toBe(issue);
  });

  test('what is wrong inside a list is named where null may stand, too', () => {
    const schema = Type.Object({ it: Type.Union([Type.Array(Type.Enum(['one', 'two']), { uniqueItems: true }), Type.Null()]) });
    const validate = bodyValidator(schema);
    expect(validate({ it: ['one', 'three', 4] })).toStrictEqual([
      { field: 'it.1', issue: 'must be one of one, two; got 5 characters' },
      { field: 'it.2', issue: 'must be one of one, two; got a number' },
    ]);
    expect(validate({ it: ['one', 'one'] })).toStrictEqual([
      { field: 'it', issue: 'must hold each entry once: entries 0 and 1 are the same' },
    ]);
    expect(validate({ it: {} })).toStrictEqual([{ field: 'it', issue: 'must be a list or null; got an object' }]);
  });

  test('each entry of a list has words of its own', () => {
    const entry = Type.Union([Type.Object({ size: Type.Integer() }), Type.Null()]);
    expect(bodyValidator(Type.Object({ it: Type.Array(entry) }))({ it: [{ size: 'x' }, 5, null] })).toStrictEqual([
      { field: 'it.0.size', issue: 'must be a whole number; got text' },
      { field: 'it.1', issue: 'must be an object or null; got a number' },
    ]);
  });

  test('a value that may be meant for several branches is one violation', () => {
    const branch = (kind: string) => Type.Object({ kind: Type.Literal(kind), size: Type.Integer() });
    const validate = bodyValidator(Type.Object({ it: Type.Union([branch('a'), branch('b'), Type.Null()]) }));
    expect(validate({ it: { kind: 'c' } })).toStrictEqual([
      { field: 'it', issue: 'must be in one of the forms that are described; got an object' },
    ]);
  });

  test('of a secret nothing is told', () => {
    const secret = Type.String({ writeOnly: true, maxLength: 5, pattern: '^[a-z]+$', 'x-issue': 'use small letters' });
    expect(issueFor(secret, 'SECRET')).toMatch(/^(must have at most 5 characters|use small letters)$/);
  });

  test('nor is a refused secret of a service, or an address, part of the answer', async () => {
    const made = await api.call('POST', '/websites', { token, body: { name: 'Words', slug: 'words', tier: 'scale' } });
    const { id } = made.body as { id: string };
    const secrets = { adminToken: 'shpat shh', apiKey: 'cal_live ssh' };
    const refused = await api.call('POST', `/websites/${id}/services`, {
      token,
      body: { kind: 'commerce', shopDomain: 'x', secrets },
    });
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ error: expect.stringMatching(/^Invalid request body — /) as unknown });
    expect(refused.text).not.toMatch(/shh|ssh|shpat|cal_live/);
    expect((refused.body as { details: unknown[] }).details).toHaveLength(3);
    const address = await api.call('POST', '/clients', { token, body: { email: 'somebody.private@' } });
    expect(address.text).not.toContain('somebody.private');
  });
});

describe('a website that cannot be created', () => {
  const create = async (
    body: unknown,
  ): Promise<{ status: number; error: string; details: readonly { field: string; issue: string }[] }> => {
    const answer = await api.call('POST', '/websites', { token, body });
    return { status: answer.status, ...(answer.body as { error: string; details: readonly { field: string; issue: string }[] }) };
  };
  const colour = { field: 'brandColor', issue: 'must be #RRGGBB hex' };

  test.each<[string, unknown, string, readonly { field: string; issue: string }[]]>([
    [
      'without anything',
      {},
      'name is required',
      [
        { field: 'name', issue: 'is required' },
        { field: 'slug', issue: 'is required' },
      ],
    ],
    ['without a slug', { name: 'A', slug: ' ' }, 'slug is required', [{ field: 'slug', issue: 'is required' }]],
    [
      'with a name that nobody sees',
      { name: ' \u200b', slug: 'a' },
      'name is required',
      [{ field: 'name', issue: 'is required' }],
    ],
    [
      'with nothing right',
      { slug: '', brandColor: 'red', tier: 'gold', colour: 1 },
      'name is required',
      [
        { field: 'name', issue: 'is required' },
        { field: 'slug', issue: 'is required' },
        colour,
        { field: 'tier', issue: 'must be one of starter, growth, scale; got 4 characters' },
        { field: 'colour', issue: 'is not a known field' },
      ],
    ],
    ['with a colour by its name', { name: 'A', slug: 'a', brandColor: 'red' }, 'brandColor must be #RRGGBB hex', [colour]],
    [
      'with a slug of other letters',
      { name: 'A', slug: 'Corner Bakery' },
      'Invalid request body — slug: use 1 to 63 of a–z, 0–9 and hyphens, with no hyphen at either end; got 13 characters',
      [{ field: 'slug', issue: 'use 1 to 63 of a–z, 0–9 and hyphens, with no hyphen at either end; got 13 characters' }],
    ],
  ])('%s: every fault is told, the first one in the message', async (_what, body, error, details) => {
    const answer = await create(body);
    expect([answer.status, answer.error]).toStrictEqual([400, error]);
    expect(answer.details).toHaveLength(details.length);
    expect(answer.details).toEqual(expect.arrayContaining([...details]));
    expect(answer.details[0]).toStrictEqual(details[0]);
  });

  test('with a slug that is taken, whatever else is wrong', async () => {
    await create({ name: 'First', slug: 'taken-slug' });
    const taken = { field: 'slug', issue: 'already exists' };
    expect(await create({ name: 'Second', slug: 'taken-slug' })).toMatchObject({
      status: 400,
      error: 'slug already exists',
      details: [taken],
    });
    expect(await create({ name: 'Second', slug: 'taken-slug', brandColor: 'red' })).toMatchObject({
      error: 'slug already exists',
      details: [taken, colour],
    });
    expect(await create({ slug: 'taken-slug' })).toMatchObject({
      error: 'name is required',
      details: [{ field: 'name' }, taken],
    });
    expect(await create({ name: 'Second', slug: 'taken-slug', templateId: 'palace' })).toMatchObject({
      error: 'slug already exists',
      details: [taken, { field: 'templateId', issue: 'template palace does not exist' }],
    });
  });
});
