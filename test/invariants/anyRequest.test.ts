import { afterEach, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Route } from '../../src/http/route.js';
import { checkForm, errorsSince, expectHealthy, timed } from '../support/answerForm.js';
import { anyRequestOf, type Sent } from '../support/anyRequest.js';
import { eventually } from '../support/eventually.js';
import { pathTo, startEverybody, type Everybody } from '../support/everybody.js';
import { rawRequest, sendRaw, type RawAnswer } from '../support/rawHttp.js';

/**
 * Whatever is sent to whichever route: an answer below 500 that the OpenAPI document knows, its
 * errors in the one form there is, soon, and the service as well as before.
 */

let everybody: Everybody;
let documented: Readonly<Record<string, Readonly<Record<string, { readonly responses: object } | undefined>>>>;

beforeAll(async () => {
  everybody = await startEverybody();
  const { body } = await everybody.api.call('GET', '/openapi.json');
  ({ paths: documented } = body as { paths: typeof documented });
});

afterEach(() => expectHealthy(everybody));

/** Of the connection: not HTTP, too slow, too long a head. */
const ofConnections = [400, 408, 431];
/** Of a route, whichever it is: another method than it has, a body that nobody asked for. */
const ofRoutes = [405, 413];

/**
 * The route that took the request is the one that the log says: a path may come to be another's.
 */
const checkDocumented = async ({ status, headers }: RawAnswer): Promise<void> => {
  const requestId = headers['x-request-id'];
  const line = await eventually('the line in the log', () =>
    everybody.api.log.findLast((entry) => entry.requestId === requestId && entry.msg === 'request'),
  );
  const { route, method } = line as { route: string; method: string };
  const operation = documented[route.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase().replace('head', 'get')];
  if (operation !== undefined) expect([...Object.keys(operation.responses).map(Number), ...ofRoutes]).toContain(status);
  else if (route === 'none' || method === 'OPTIONS') expect([204, 404, 405, ...ofConnections]).toContain(status);
  else expect(everybody.routes.find(({ path }) => path === route)?.hidden).toBe(true);
};

const send = ({ method, target, headers, body }: Sent): Promise<RawAnswer | null> =>
  timed(() => sendRaw(everybody.api.url, rawRequest(method, target, headers, body)));

/** An archived website would refuse every write from then on. */
const bringBack = async (route: Route): Promise<void> => {
  if (route.operationId !== 'archiveWebsite') return;
  const path = `/websites/${everybody.websiteId}/restore`;
  await everybody.api.call('POST', path, { token: everybody.credentials.admin.token });
};

const check = async (sent: Sent): Promise<number> => {
  const before = everybody.api.log.length;
  const answer = await send(sent);
  if (answer === null) throw new Error('the connection was closed without an answer');
  checkForm(answer, sent.method);
  await checkDocumented(answer);
  expect(errorsSince(everybody, before)).toStrictEqual([]);
  await bringBack(sent.route);
  return answer.status;
};

const numRuns = 600;

test('any request to any route', async () => {
  let taken = 0;
  const request = fc.oneof(...everybody.routes.map((route) => anyRequestOf(route, everybody)));
  const property = fc.asyncProperty(request, async (sent) => {
    if ((await check(sent)) < 300) taken += 1;
  });
  await fc.assert(property, { numRuns });
  // Many get past every check.
  expect(taken).toBeGreaterThan(numRuns / 10);
}, 60_000);

/** Of the routes above, too few to be met often. */
test('any form that is uploaded', async () => {
  const request = fc.oneof(
    ...everybody.routes.filter(({ upload }) => upload !== undefined).map((route) => anyRequestOf(route, everybody)),
  );
  await fc.assert(
    fc.asyncProperty(request, async (sent) => {
      await check(sent);
    }),
    { numRuns: 200 },
  );
}, 60_000);

/** Requests that once came to something else. */
test.each<[number, string, string, (readonly [string, string])[]]>([
  [400, 'GET', '/api-keys?limit=1e400', []],
  [400, 'GET', '/api-keys?limit=Infinity', []],
  [304, 'GET', '/openapi.json', [['if-none-match', '*']]],
  [400, 'POST', '/websites/:id/restore?dryRun=1', [['idempotency-key', 'é']]],
])('%d: %s %s', async (status, method, path, headers) => {
  const authorization = ['authorization', `Bearer ${everybody.credentials.admin.token}`] as const;
  const [route] = everybody.routes;
  if (route === undefined) throw new Error('there are no routes');
  const target = `/v1${pathTo(path, everybody)}`;
  const sent = { route, method, target, headers: [['host', 'x'], authorization, ...headers], body: Buffer.alloc(0) } as const;
  expect(await check({ ...sent, [fc.toStringMethod]: () => target })).toBe(status);
});

test('a reader of events who sent a body that nobody wanted is let go of', async () => {
  const { api, websiteId, credentials } = everybody;
  const body = Buffer.alloc(1_000_000, ' ');
  const headers = [
    ['host', 'x'],
    ['authorization', `Bearer ${credentials.admin.token}`],
    ['x-request-id', 'reader'],
    ['content-length', String(body.length)],
  ] as const;
  // It goes when it has read the first event.
  await sendRaw(api.url, rawRequest('GET', `/v1/websites/${websiteId}/provisioning/events`, headers, body));
  await eventually('the end of the answer', () => api.log.find(({ requestId }) => requestId === 'reader'));
});
