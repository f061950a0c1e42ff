import { Type } from 'typebox';
import { route, type AccessRule, type Answer, type Route, type RouteRequest, type RouteTag } from '../../src/http/route.js';

const probeTag: RouteTag = { name: 'Probes', description: 'Probes.' };
const done: Route['answers'] = { 200: { description: 'Done.' } };

/** A route that answers with what it was called with, or as `answer` says. */
export const probe = (changes: Partial<Route> & Pick<Route, 'path'>): Route => ({
  method: 'get',
  operationId: `${changes.method ?? 'get'}${changes.path.replaceAll(/\W/g, '_')}`,
  summary: 'Probe',
  tag: probeTag,
  scope: 'installation',
  access: 'signedIn',
  answers: done,
  answer: ({ params, query, body }: RouteRequest): Promise<Answer> => Promise.resolve({ body: { params, query, body } }),
  ...changes,
});

/** One route for each rule of access, all about a website. */
export const ruled = (rules: readonly AccessRule[], changes: Partial<Route> = {}): readonly Route[] =>
  rules.map((access) => probe({ path: `/websites/:id/${access}`, scope: 'website', access, ...changes }));

/** A body with something of every kind. */
export const everyKind = route({
  method: 'post',
  path: '/things',
  operationId: 'postThing',
  summary: 'Probe',
  tag: probeTag,
  scope: 'installation',
  access: 'signedIn',
  body: Type.Object({
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 5 })),
    email: Type.Optional(Type.String({ format: 'email' })),
    at: Type.Optional(Type.String({ format: 'date-time' })),
    kind: Type.Optional(Type.Enum(['one', 'other'])),
    count: Type.Optional(Type.Integer()),
    size: Type.Optional(Type.Number()),
    isOn: Type.Optional(Type.Boolean()),
    reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    slug: Type.Optional(Type.String({ minLength: 1, pattern: '^[a-z]+$', 'x-issue': 'must be of small letters' })),
    parts: Type.Optional(Type.Array(Type.Object({ id: Type.String(), label: Type.String({ minLength: 1 }) }), { maxItems: 3 })),
    anything: Type.Optional(Type.Unknown()),
  }),
  answers: done,
  answer: ({ body }) => Promise.resolve({ body }),
});
