import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Route } from '../../src/http/route.js';
import { pathTo, people, startEverybody, type Credentials, type Everybody, type Person } from '../support/everybody.js';

/**
 * Who may call what: api.md, section 4, said once more. A admin, O owner, E linked editor, V linked
 * viewer, S whoever is signed in, I the invited, * everybody. A second entry is the feature that
 * the website must have.
 */
const who: Readonly<Record<string, readonly [string, string?]>> = {
  'GET /me': ['S'],
  'GET /me/websites': ['S'],

  'POST /websites': ['A'],
  'GET /websites': ['A'],
  'GET /websites/:id': ['AOEV'],
  'PATCH /websites/:id': ['A'],
  'DELETE /websites/:id': ['A'],
  'DELETE /websites/:id/owner': ['A'],
  'GET /events': ['A'],
  'GET /search': ['S'],
  'GET /websites/:id/events': ['AOEV'],
  'POST /websites/:id/archive': ['A'],
  'POST /websites/:id/restore': ['A'],

  'GET /websites/:id/access': ['A'],
  'GET /websites/:id/clients': ['AO'],
  'POST /websites/:id/clients': ['A'],
  'GET /websites/:id/clients/:clientId': ['AO'],
  'PATCH /websites/:id/clients/:clientId': ['A'],
  'DELETE /websites/:id/clients/:clientId': ['A'],
  'POST /websites/:id/clients/:clientId/undo': ['A'],
  'GET /websites/:id/client-invitations/:invitationId': ['A'],
  'POST /websites/:id/client-invitations/:invitationId/resend': ['A'],
  'DELETE /websites/:id/client-invitations/:invitationId': ['A'],
  'GET /invitations/:id': ['I'],
  'POST /invitations/:id/claim': ['I'],
  'POST /invitations/:id/renewal-request': ['I'],

  'POST /websites/:id/transfers': ['A'],
  'GET /websites/:id/transfers': ['A'],
  'GET /websites/:id/transfers/:transferId': ['A'],
  'DELETE /websites/:id/transfers/:transferId': ['A'],
  // And the person to whom it is offered, who is tried with the ledger itself.
  'GET /websites/:id/transfers/:transferId/ledger': ['AO'],
  'GET /websites/:id/billing': ['AO'],
  'POST /websites/:id/billing/portal': ['O'],
  'POST /websites/:id/billing/invoices': ['A'],
  'GET /websites/:id/billing/invoices/:invoiceId': ['AO'],
  'POST /websites/:id/billing/invoices/:invoiceId/pay': ['A'],
  'POST /websites/:id/billing/invoices/:invoiceId/void': ['A'],
  'GET /invoices': ['A'],

  'GET /websites/:id/delivery': ['AOEV'],
  'PUT /websites/:id/delivery': ['A'],
  'PUT /websites/:id/delivery/checkpoints/:checkpointId': ['A'],
  'GET /websites/:id/delivery/history': ['A'],
  'POST /websites/:id/delivery/undo': ['A'],
  'GET /websites/:id/delivery/changes': ['AOEV'],
  'POST /websites/:id/delivery/seen': ['AOEV'],
  'GET /websites/:id/delivery/readers': ['A'],
  'GET /websites/:id/delivery/forecast': ['A'],

  'GET /websites/:id/provisioning': ['AOEV'],
  'GET /websites/:id/provisioning/events': ['AOEV'],
  'GET /websites/:id/provisioning/receipts': ['A'],
  'POST /websites/:id/provisioning/retry': ['A'],
  'POST /websites/:id/provisioning/cleanup': ['A'],
  'GET /websites/:id/deployments': ['AOEV'],
  'GET /websites/:id/commits': ['AOEV'],
  'POST /websites/:id/redeploy': ['AOE'],

  'GET /websites/:id/content': ['AOEV', 'content'],
  'GET /websites/:id/content/:documentId': ['AOEV', 'content'],
  'PUT /websites/:id/content/:documentId': ['AOE', 'content'],
  'GET /websites/:id/content/:documentId/versions': ['AOEV', 'content'],
  'GET /websites/:id/content/:documentId/versions/:hash': ['AOEV', 'content'],
  'POST /websites/:id/content/:documentId/restore': ['AOE', 'content'],
  'POST /websites/:id/content/preview': ['AOE', 'content'],
  'POST /websites/:id/content/publish': ['AOE', 'content'],
  'GET /websites/:id/marketing': ['AOEV', 'marketing'],
  'GET /websites/:id/marketing/:documentId': ['AOEV', 'marketing'],
  'PUT /websites/:id/marketing/:documentId': ['AOE', 'marketing'],
  'GET /websites/:id/marketing/:documentId/versions': ['AOEV', 'marketing'],
  'GET /websites/:id/marketing/:documentId/versions/:hash': ['AOEV', 'marketing'],
  'POST /websites/:id/marketing/:documentId/restore': ['AOE', 'marketing'],

  'GET /websites/:id/analytics': ['AOEV', 'analytics'],
  'GET /websites/:id/seo': ['AOEV', 'seo'],
  'POST /websites/:id/seo/scans': ['A', 'seo'],
  'GET /websites/:id/documents': ['AOEV', 'documents'],
  'POST /websites/:id/documents': ['A', 'documents'],
  'GET /websites/:id/documents/:documentId': ['AOEV', 'documents'],
  'PATCH /websites/:id/documents/:documentId': ['A', 'documents'],
  'DELETE /websites/:id/documents/:documentId': ['A', 'documents'],
  'POST /websites/:id/documents/:documentId/undo': ['A', 'documents'],
  'GET /websites/:id/documents/:documentId/url': ['AOEV', 'documents'],
  'GET /files/:fileId': ['*'],
  'GET /websites/:id/media': ['AOEV', 'content'],
  'POST /websites/:id/media': ['AOE', 'content'],
  'GET /websites/:id/media/:mediaId': ['AOEV', 'content'],
  'PATCH /websites/:id/media/:mediaId': ['AOE', 'content'],
  'DELETE /websites/:id/media/:mediaId': ['AOE', 'content'],
  'POST /websites/:id/media/:mediaId/undo': ['AOE', 'content'],
  'GET /websites/:id/media/:mediaId/url': ['AOEV', 'content'],
  'GET /websites/:id/bookings': ['AOE', 'scheduling'],
  'POST /websites/:id/bookings': ['A', 'scheduling'],
  'GET /websites/:id/bookings/:bookingId': ['AOE', 'scheduling'],
  'DELETE /websites/:id/bookings/:bookingId': ['A', 'scheduling'],

  'GET /websites/:id/services': ['A'],
  'POST /websites/:id/services': ['A'],
  'GET /websites/:id/services/:serviceId': ['A'],
  'DELETE /websites/:id/services/:serviceId': ['A'],
  'GET /websites/:id/domains': ['AOEV'],
  'GET /websites/:id/domains/:domain': ['AOEV'],
  'POST /websites/:id/domains': ['A'],
  'POST /websites/:id/domains/:domain/verify': ['A'],
  'DELETE /websites/:id/domains/:domain': ['A'],
  'GET /tls/ask': ['*'],
  'GET /websites/:id/blueprint': ['AOEV', 'blueprint'],
  'PUT /websites/:id/blueprint': ['AOE', 'blueprint'],
  'GET /websites/:id/products': ['AOEV', 'commerce'],

  'POST /clients': ['A'],
  'GET /clients': ['A'],
  'GET /clients/:id': ['A'],
  'PATCH /clients/:id': ['A'],
  'DELETE /clients/:id': ['A'],
  'GET /clients/:id/export': ['A'],

  'POST /api-keys': ['S'],
  'GET /api-keys': ['S'],
  'GET /api-keys/:id': ['S'],
  'DELETE /api-keys/:id': ['S'],

  'GET /outbox': ['A'],

  'GET /audit': ['A'],

  'POST /webhooks/commerce': ['*'],

  'GET /.well-known/oauth-protected-resource': ['*'],
  'GET /.well-known/oauth-protected-resource/mcp': ['*'],
  'GET /healthz': ['*'],
  'GET /readyz': ['*'],
  'GET /metrics': ['*'],
  'GET /openapi.json': ['*'],
  'GET /templates': ['S'],
  'GET /templates/:templateId/picture': ['*'],
  'GET /features': ['S'],
  'GET /docs': ['*'],
};

const letters: Readonly<Partial<Record<Person, string>>> = { admin: 'A', owner: 'O', editor: 'E', viewer: 'V', invited: 'I' };

type Outcome = 'let in' | readonly [number, string];

const letIn: Outcome = 'let in';
const noHeader: Outcome = [401, 'No Authorization header'];
const missing: Outcome = [401, 'Missing token'];
const invalid: Outcome = [401, 'Invalid token'];
const adminOnly: Outcome = [403, 'Admin role required'];
const editorOnly: Outcome = [401, 'Editor role required'];
const noMails: Outcome = [403, 'Not authorized to read mails with a read-only token'];
const readOnly: Outcome = [403, 'Not authorized to write with a read-only token'];
const notInvited: Outcome = [403, 'Not authorized to claim this invitation'];

let everybody: Everybody;
/** Of a website of the same owner without any feature. */
let bareId: string;
let position: bigint;

beforeAll(async () => {
  everybody = await startEverybody();
  const { api, credentials, clientIds } = everybody;
  const { body } = await api.call('POST', '/websites', {
    token: credentials.admin.token,
    body: { name: 'Bare', slug: 'bare', clientId: clientIds.owner, features: [] },
  });
  bareId = (body as { id: string }).id;
  position = await api.engine.eventStore.lastPosition();
});

const nameOf = ({ method, path }: Route): string => `${method.toUpperCase()} ${path}`;

const routeNamed = (name: string): Route => {
  const found = everybody.routes.find((route) => nameOf(route) === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
};

const ask = async (method: string, path: string, credential?: string): Promise<Outcome> => {
  const answer = await fetch(`${everybody.api.url}${path}`, {
    method,
    headers: credential === undefined ? {} : { authorization: `Bearer ${credential}` },
  });
  if (answer.status < 500 && answer.status !== 401 && answer.status !== 403) {
    // Events would go on and on.
    await answer.body?.cancel();
    return letIn;
  }
  return [answer.status, ((await answer.json()) as { error: string }).error];
};

const expectedFor = (rule: string, person: Person, websiteId: string): Outcome => {
  const letter = letters[person];
  if (rule === 'S' || (letter !== undefined && rule.includes(letter))) return letIn;
  if (rule === 'A') return adminOnly;
  if (rule === 'I') return notInvited;
  return rule === 'AOE' && person === 'viewer' ? editorOnly : [403, `Not authorized to access website ${websiteId}`];
};

/** Who may write tries it only: the next one finds everything as it was. */
const pathFor = (method: string, path: string, expected: Outcome): string =>
  expected === letIn && method !== 'get' ? `${path}?dryRun=1` : path;

const forEverybody = async (
  { method, path }: Route,
  credential: keyof Credentials,
  expectedOf: (person: Person) => Outcome,
): Promise<void> => {
  const entry = credential === 'jwt' ? '' : '/v1';
  const outcomes = people.map(async (person) => {
    const url = pathFor(method, `${entry}${pathTo(path, everybody)}`, expectedOf(person));
    return [person, await ask(method.toUpperCase(), url, everybody.credentials[person][credential])];
  });
  expect(Object.fromEntries(await Promise.all(outcomes))).toStrictEqual(
    Object.fromEntries(people.map((person) => [person, expectedOf(person)])),
  );
};

test('every route of the service has its entry', () => {
  expect(everybody.routes.map(nameOf).sort()).toStrictEqual(Object.keys(who).sort());
  expect(Object.fromEntries(everybody.routes.map((route) => [nameOf(route), route.feature]))).toStrictEqual(
    Object.fromEntries(Object.entries(who).map(([name, [, feature]]) => [name, feature])),
  );
});

const routes = Object.entries(who).map(([name, [rule]]) => ({ name, rule }));
const guarded = routes.filter(({ rule }) => rule !== '*');

describe('who may call', () => {
  test.each(guarded)('$name: $rule', async ({ name, rule }) => {
    const route = routeNamed(name);
    const expectedOf = (person: Person): Outcome => expectedFor(rule, person, everybody.websiteId);
    await forEverybody(route, 'jwt', expectedOf);
    await forEverybody(route, 'token', expectedOf);
    await forEverybody(route, 'readToken', (person) => {
      if (route.method !== 'get') return readOnly;
      // Who reads the codes in mails can sign in as anybody, and then write.
      return name === 'GET /outbox' && expectedOf(person) === letIn ? noMails : expectedOf(person);
    });
  });

  test.each(routes.filter(({ rule }) => rule === '*'))('$name: everybody', async ({ name }) => {
    const { path } = routeNamed(name);
    const { jwt, token } = everybody.credentials.stranger;
    for (const url of [path, `/v1${path}`].map((pattern) => pathTo(pattern, everybody))) {
      for (const credential of [undefined, jwt, token, 'nonsense']) expect(await ask('GET', url, credential)).toBe(letIn);
    }
  });
});

describe('the entry modes', () => {
  test.each(guarded)('$name', async ({ name }) => {
    const { method, path } = routeNamed(name);
    const url = pathTo(path, everybody);
    const { jwt, token } = everybody.credentials.admin;
    const upper = method.toUpperCase();
    expect(await ask(upper, url)).toStrictEqual(noHeader);
    expect(await ask(upper, `/v1${url}`)).toStrictEqual(missing);
    expect(await ask(upper, url, token)).toStrictEqual(invalid);
    expect(await ask(upper, `/v1${url}`, jwt)).toStrictEqual(invalid);
  });
});

describe('a website that is unknown', () => {
  const unknown: Outcome = [404, 'Website unknown not found'];
  const statusAndWords = async (method: string, path: string, credential?: string): Promise<Outcome> => {
    const { status, body } = await everybody.api.call(method, path, {
      headers: credential === undefined ? {} : { authorization: `Bearer ${credential}` },
    });
    return [status, (body as { error: string }).error];
  };

  test.each(guarded.filter(({ name }) => name.includes('/websites/:id')))('$name', async ({ name, rule }) => {
    const { method, path } = routeNamed(name);
    const url = path.replace('/:id', '/unknown').replaceAll(/:\w+/g, 'kickoff');
    for (const person of people) {
      const { jwt, token } = everybody.credentials[person];
      const expected = rule === 'A' && person !== 'admin' ? adminOnly : unknown;
      expect([person, await statusAndWords(method.toUpperCase(), url, jwt)]).toStrictEqual([person, expected]);
      expect([person, await statusAndWords(method.toUpperCase(), `/v1${url}`, token)]).toStrictEqual([person, expected]);
    }
    expect(await statusAndWords(method.toUpperCase(), url)).toStrictEqual(noHeader);
  });
});

describe('a feature that the website does not have', () => {
  for (const [name, [rule, feature]] of Object.entries(who)) {
    if (feature === undefined) continue;
    test(`${name}: ${feature}`, async () => {
      const { method, path } = routeNamed(name);
      const url = pathTo(path, { ...everybody, websiteId: bareId });
      for (const person of ['admin', 'owner', 'stranger'] as const) {
        const expected = expectedFor(rule, person, bareId);
        const off: Outcome = [403, `Website does not have the ${feature} feature enabled`];
        const outcome = await ask(method.toUpperCase(), url, everybody.credentials[person].jwt);
        expect([person, outcome]).toStrictEqual([person, expected === letIn ? off : expected]);
      }
    });
  }
});

describe('a header of a write', () => {
  const refused = async (route: Route, headers: Readonly<Record<string, string>>): Promise<unknown> => {
    const [rule = ''] = who[nameOf(route)] ?? [];
    const person = people.find((one) => expectedFor(rule, one, everybody.websiteId) === letIn) ?? 'admin';
    const { token } = everybody.credentials[person];
    const { status, body } = await everybody.api.call(route.method.toUpperCase(), pathTo(route.path, everybody), {
      token,
      headers,
    });
    return [status, (body as { error: string }).error];
  };

  test.each(routes.filter(({ name }) => !name.startsWith('GET ')))('$name ignores none', async ({ name }) => {
    const route = routeNamed(name);
    // What honours it is sent a stale one in the test of committed answers.
    if (route.ifMatch !== 'honoured') {
      expect(await refused(route, { 'if-match': '"1-x"' })).toStrictEqual([400, 'If-Match is not supported here']);
    }
    if (route.access === 'public') return;
    const words = 'Invalid headers — Idempotency-Key: must be 1 to 255 printable ASCII characters';
    expect(await refused(route, { 'idempotency-key': 'x'.repeat(256) })).toStrictEqual([400, words]);
  });
});

test('of all this, whoever was refused has changed nothing, and a dry run neither', async () => {
  expect(await everybody.api.engine.eventStore.lastPosition()).toBe(position);
});
