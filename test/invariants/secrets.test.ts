import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import type { Route } from '../../src/http/route.js';
import { pathTo, people, startEverybody, type Everybody } from '../support/everybody.js';
import { rawRequest, sendRaw } from '../support/rawHttp.js';

/**
 * Secrets that callers send, wherever they put them, stay with them: none is in an answer, in the
 * log, or in a file.
 */

const canary = 'canary7f3a9e';
let everybody: Everybody;

beforeAll(async () => {
  everybody = await startEverybody();
});

interface Asked {
  readonly headers: readonly (readonly [string, string])[];
  readonly query?: string;
  readonly body?: unknown;
}

const authorization = (value: string): readonly [string, string] => ['authorization', value];
/** Stands for the credential of somebody. */
const signed = authorization('');

/** Where a secret may stand in a request. */
const places: readonly Asked[] = [
  // Tokens that nobody has.
  { headers: [authorization(`Bearer svc_pat_${canary}`)] },
  { headers: [authorization(`Bearer svc_pat_${canary.repeat(4).slice(0, 46)}`)] },
  { headers: [authorization(`Bearer eyJhbGciOiJub25lIn0.${canary}.${canary}`)] },
  { headers: [authorization(`Basic ${Buffer.from(`user:${canary}`).toString('base64')}`)] },
  { headers: [authorization(canary)] },
  {
    headers: [
      signed,
      ['cookie', `session=${canary}`],
      ['proxy-authorization', `Bearer ${canary}`],
      ['x-api-key', canary],
      ['x-shopify-hmac-sha256', canary],
      ['referer', `https://example.com/?token=${canary}`],
      ['user-agent', canary],
      ['accept', `text/${canary}`],
      ['if-match', `"${canary}"`],
      ['if-none-match', `"${canary}"`],
      ['idempotency-key', canary],
    ],
  },
  { headers: [signed], query: `token=${canary}&access_token=${canary}&password=${canary}` },
  { headers: [signed], query: `limit=${canary}&cursor=${canary}&at=${canary}&archived=${canary}` },
  { headers: [signed], body: { password: canary, token: canary, secret: { key: [canary] } } },
  { headers: [signed], body: { name: { password: canary }, email: canary, role: canary, scope: canary } },
  { headers: [signed], body: { status: canary, revision: canary, checkpoints: [{ id: canary, token: canary }] } },
  { headers: [signed], body: { previewUrlOverride: `https://user:${canary}@example.com/` } },
  { headers: [signed], body: canary },
  // Not JSON.
  { headers: [signed], body: Buffer.from(`{"password":"${canary}"`) },
  { headers: [signed], body: Buffer.from(canary) },
];

const bytesOf = (body: unknown): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.from(body === undefined ? '' : JSON.stringify(body));

const ask = async ({ method, path }: Route, entry: string, credential: string, place: Asked): Promise<void> => {
  // What is right all the same is only tried.
  const asked = [...(method === 'get' ? [] : ['dryRun=1']), ...(place.query === undefined ? [] : [place.query])].join('&');
  const bytes = bytesOf(place.body);
  const headers = place.headers.map((header) => (header === signed ? authorization(`Bearer ${credential}`) : header));
  const answer = await sendRaw(
    everybody.api.url,
    rawRequest(
      method.toUpperCase(),
      `${entry}${pathTo(path, everybody)}?${asked}`,
      [['host', 'doorstep'], ...headers, ['content-length', `${bytes.length}`]],
      bytes,
    ),
  );
  expect(answer?.status).toBeLessThan(500);
  expect(JSON.stringify(answer)).not.toContain(canary);
};

/** Everything that was sent and should be nowhere, as people would look for it. */
const secrets = (): readonly string[] => [
  canary,
  Buffer.from(`user:${canary}`).toString('base64'),
  ...people.flatMap((person) => {
    const { jwt, token, readToken } = everybody.credentials[person];
    return [jwt, jwt.split('.')[2] ?? '', token, readToken, token.slice(12), readToken.slice(12)];
  }),
];

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test('no secret that is sent to any route is in an answer, in the log, or in a file', async () => {
  const { api, routes, credentials } = everybody;
  const { admin, owner } = credentials;
  const entries = [
    ['/v1', admin.token],
    ['', admin.jwt],
    ['/v1', owner.token],
  ] as const;
  for (const [index, route] of routes.entries()) {
    for (const [shift, place] of places.entries()) {
      const [entry, credential] = entries[(index + shift) % 3] ?? entries[0];
      await ask(route, entry, credential, place);
    }
  }
  // Whoever has a draft's address sees the draft.
  for (const draft of [`/sites/bakery/_previews/${canary}/`, `/sites/bakery/_previews/${canary}`, `/_previews/${canary}/a.css`]) {
    await api.call('GET', draft);
  }
  // An answer with a secret in it is kept for its Idempotency-Key.
  const minted = await api.call('POST', '/api-keys', {
    token: admin.token,
    body: { name: 'kept' },
    headers: { 'idempotency-key': 'kept' },
  });
  const { token } = minted.body as { token: string };
  expect(token).toMatch(/^svc_pat_/);

  const log = JSON.stringify(api.log);
  expect(api.log.length).toBeGreaterThanOrEqual(routes.length * places.length);
  const files = filesIn(api.folder).map((file) => readFileSync(file));
  // They are where they should be: what is stored is looked through.
  expect(files.some((file) => file.includes('WebsiteCreated'))).toBe(true);
  for (const secret of [...secrets(), token, token.slice(12)]) {
    expect(log).not.toContain(secret);
    expect(files.filter((file) => file.includes(secret))).toStrictEqual([]);
  }
}, 120_000);
