import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Route } from '../../src/http/route.js';
import { pathTo, people, startEverybody, type Everybody, type Person } from '../support/everybody.js';
import { accountsOf } from '../support/accounts.js';
import { startApi, type ApiAnswer } from '../support/http.js';
import { createTestIdentity } from '../support/identity.js';
import { createTestOutbox } from '../support/outbox.js';
import { temporaryFolder } from '../support/temporary.js';

interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly allowed: boolean;
  readonly rule: string;
  readonly why: string;
}

interface Explanation {
  readonly person: Readonly<Record<string, unknown>>;
  readonly invitations: readonly object[];
  readonly areas: readonly { readonly area: string; readonly may: string; readonly operations: readonly Operation[] }[];
  readonly fields: readonly { readonly operationId: string; readonly field: string; readonly visible: boolean }[];
}

let everybody: Everybody;
const websites: Record<string, string> = {};

const asAdmin = async (method: string, path: string, body?: unknown): Promise<ApiAnswer> => {
  const { token } = everybody.credentials.admin;
  const answer = await everybody.api.call(method, path, { token, ...(body !== undefined && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${String(answer.status)}: ${answer.text}`);
  return answer;
};

/** With the same people as the first one. */
const newWebsite = async (slug: string, more: object): Promise<string> => {
  const body = { name: slug, slug, clientId: everybody.clientIds.owner, ...more };
  const { id } = (await asAdmin('POST', '/websites', body)).body as { id: string };
  for (const role of ['editor', 'viewer']) {
    await asAdmin('POST', `/websites/${id}/clients`, { email: `${role}@example.com`, role });
  }
  return id;
};

beforeAll(async () => {
  everybody = await startEverybody();
  websites.full = everybody.websiteId;
  websites.bare = await newWebsite('bare', { tier: 'growth', features: [] });
  websites.archived = await newWebsite('archived', { tier: 'scale' });
  await asAdmin('POST', `/websites/${websites.archived}/archive`);
});

/** An admin is known by their keys, a namesake by their subject alone. */
const nameOf = (person: Person): string =>
  person === 'admin' || person === 'namesake' ? `subject=${person}` : `email=${person}@example.com`;

const explain = async (websiteId: string, query: string): Promise<Explanation> =>
  (await asAdmin('GET', `/websites/${websiteId}/access?${query}`)).body as Explanation;

/** By which rules an error of a real answer is explained. */
const rulesOf: Readonly<Record<string, readonly string[]>> = {
  admin_required: ['admin'],
  editor_required: ['role'],
  feature_off: ['feature', 'tier'],
  website_archived: ['archived'],
  not_authorized_for_website: ['owner', 'none'],
};

/** What the service really does, without changing anything. */
const realOutcome = async (route: Route, websiteId: string, person: Person): Promise<string> => {
  const path = pathTo(route.path, { ...everybody, websiteId });
  const answer = await fetch(`${everybody.api.url}${path}${route.method === 'get' ? '' : '?dryRun=1'}`, {
    method: route.method.toUpperCase(),
    headers: { authorization: `Bearer ${everybody.credentials[person].jwt}` },
  });
  // Events would go on and on.
  if (answer.ok) {
    await answer.body?.cancel();
    return 'allowed';
  }
  const { code } = (await answer.json()) as { code: string };
  return Object.hasOwn(rulesOf, code) ? code : 'allowed';
};

describe.each(['full', 'bare', 'archived'])('of the website that is %s', (which) => {
  test.each(people)('what is explained of the %s is what the service does, for every operation of a website', async (person) => {
    const websiteId = websites[which] ?? '';
    const { areas } = await explain(websiteId, nameOf(person));
    const explained = new Map(areas.flatMap(({ operations }) => operations).map((one) => [one.operationId, one]));
    const routes = everybody.routes.filter(({ scope }) => scope === 'website');
    expect([...explained.keys()].sort()).toEqual(routes.map(({ operationId }) => operationId).sort());

    const wrong: string[] = [];
    for (const route of routes) {
      const { allowed = false, rule = '', why = '' } = explained.get(route.operationId) ?? {};
      const real = await realOutcome(route, websiteId, person);
      const isRight = real === 'allowed' ? allowed : !allowed && rulesOf[real]?.includes(rule) === true;
      if (!isRight) wrong.push(`${route.operationId}: ${real}, explained as ${String(allowed)} by ${rule}: ${why}`);
    }
    expect(wrong).toEqual([]);
  });
});

const operationOf = ({ areas }: Explanation, operationId: string): Operation | undefined =>
  areas.flatMap(({ operations }) => operations).find((one) => one.operationId === operationId);

describe('who it is about', () => {
  test.each([
    ['owner', { role: 'client', roleFrom: 'nothing', standing: 'owner', why: 'They own the website.' }],
    ['editor', { standing: 'editor', email: 'editor@example.com', why: 'They are linked to the website as an editor.' }],
    ['viewer', { standing: 'viewer' }],
    ['admin', { role: 'admin', roleFrom: 'apiKey', standing: 'admin', why: 'They have an API key with the admin role.' }],
    ['stranger', { standing: 'stranger', clientId: expect.any(String) }],
    ['namesake', { standing: 'stranger', subject: 'namesake' }],
  ] as const)('the %s', async (person, expected) => {
    expect((await explain(everybody.websiteId, nameOf(person))).person).toMatchObject(expected);
  });

  test('a subject whose keys were minted with an address is the client of it', async () => {
    const { person } = await explain(everybody.websiteId, 'subject=editor');
    expect(person).toMatchObject({ subject: 'editor', email: 'editor@example.com', standing: 'editor' });
  });

  test('an address in any letters', async () => {
    expect((await explain(everybody.websiteId, 'email=OWNER@Example.COM')).person).toMatchObject({ standing: 'owner' });
  });

  test('nobody: what anybody could do, which is nothing, and whether an invitation waits for them', async () => {
    const nobody = await explain(everybody.websiteId, 'email=nobody@example.com');
    expect(nobody.person).not.toHaveProperty('clientId');
    expect(nobody).toMatchObject({ person: { standing: 'stranger' }, invitations: [], fields: [] });
    expect(nobody.areas.every(({ may }) => may === 'nothing')).toBe(true);
    const invited = await explain(everybody.websiteId, 'email=invited@example.com');
    expect(invited).toMatchObject({
      person: { standing: 'stranger', why: expect.stringMatching(/^They are invited, and have not taken it up\./) },
      invitations: [{ id: everybody.invitationId, kind: 'client_access', status: 'pending', role: 'viewer' }],
    });
    expect((await explain(websites.bare ?? '', 'email=invited@example.com')).invitations).toEqual([]);
  });

  test('is named once: by an address or by a subject', async () => {
    const { token } = everybody.credentials.admin;
    const ask = (query: string) => everybody.api.call('GET', `/websites/${everybody.websiteId}/access${query}`, { token });
    expect(await ask('')).toMatchObject({ status: 400, body: { error: 'Invalid query — email: is required, or subject' } });
    expect((await ask('?email=a@example.com&subject=b')).status).toBe(400);
    expect((await ask('?email=nonsense')).status).toBe(400);
  });

  test('an erased client is nobody', async () => {
    const email = 'gone@example.com';
    const { id } = (await asAdmin('POST', '/clients', { email })).body as { id: string };
    await asAdmin('POST', `/websites/${websites.bare ?? ''}/clients`, { email, role: 'editor' });
    expect((await explain(websites.bare ?? '', `email=${email}`)).person).toMatchObject({ clientId: id, standing: 'editor' });
    await asAdmin('DELETE', `/clients/${id}`);
    const { person } = await explain(websites.bare ?? '', `email=${email}`);
    expect([person.clientId, person.standing]).toEqual([undefined, 'stranger']);
  });
});

test('the rule and the words say why', async () => {
  const rulesAt = async (which: string, person: Person, operationId: string) => {
    const { rule, why } = operationOf(await explain(websites[which] ?? '', nameOf(person)), operationId) ?? {};
    return [rule, why];
  };
  expect(await rulesAt('full', 'editor', 'redeployWebsite')).toEqual(['role', 'It takes an editor, and they are linked as one.']);
  expect(await rulesAt('full', 'viewer', 'redeployWebsite')).toEqual([
    'role',
    'It takes an editor, and they are linked as a viewer.',
  ]);
  expect(await rulesAt('full', 'viewer', 'getDelivery')).toEqual(['link', 'Everybody who is linked may.']);
  expect(await rulesAt('full', 'viewer', 'getBilling')).toEqual(['owner', 'Only the owner and admins may.']);
  expect(await rulesAt('full', 'admin', 'openBillingPortal')).toEqual(['owner', 'Only the owner may.']);
  expect(await rulesAt('full', 'owner', 'replaceDelivery')).toEqual(['admin', 'Only admins may.']);
  expect(await rulesAt('bare', 'owner', 'getSeo')).toEqual(['feature', 'The website does not have the seo feature enabled.']);
  expect(await rulesAt('bare', 'owner', 'listProducts')).toEqual(['tier', 'commerce is not available on the growth tier.']);
  expect(await rulesAt('archived', 'admin', 'replaceDelivery')).toEqual([
    'archived',
    'The website is archived, and nothing in it changes.',
  ]);
});

test('it is as of now: a link that is taken away is not there a moment later', async () => {
  const email = 'leaver@example.com';
  const websiteId = everybody.websiteId;
  const { id } = (await asAdmin('POST', '/clients', { email })).body as { id: string };
  const standing = async () => (await explain(websiteId, `email=${email}`)).person.standing;
  await asAdmin('POST', `/websites/${websiteId}/clients`, { email, role: 'editor' });
  expect(await standing()).toBe('editor');
  await asAdmin('DELETE', `/websites/${websiteId}/clients/${id}`);
  expect(await standing()).toBe('stranger');
});

test('the explained fields are those that real answers have', async () => {
  const preview = 'https://preview.example/';
  const path = `/websites/${everybody.websiteId}/delivery`;
  for (const showPreviewUrl of [true, false]) {
    const block = { estimatedCompletionAt: '2030-01-01T00:00:00.000Z', showPreviewUrl, previewUrlOverride: preview };
    await asAdmin('PUT', path, block);
    for (const person of ['admin', 'owner', 'editor', 'viewer'] as const) {
      const { fields } = await explain(everybody.websiteId, nameOf(person));
      const seen = (operationId: string, field: string): boolean | undefined =>
        fields.find((one) => one.operationId === operationId && one.field === field)?.visible;
      const read = async (url: string) =>
        (await everybody.api.call('GET', url, { token: everybody.credentials[person].token })).body as object;
      const delivery = await read(path);
      const website = await read(`/websites/${everybody.websiteId}`);
      expect([person, seen('getDelivery', 'previewUrl')]).toEqual([person, 'previewUrl' in delivery]);
      expect([person, seen('getDelivery', 'previewUrlOverride')]).toEqual([person, 'previewUrlOverride' in delivery]);
      expect([person, seen('getWebsite', 'billing')]).toEqual([person, 'billing' in website]);
      expect([person, seen('listDeployments', 'url')]).toEqual([person, 'previewUrl' in delivery]);
    }
  }
});

test('reading it is not noted in the log', async () => {
  const { eventStore } = everybody.api.engine;
  const before = await eventStore.lastPosition();
  await explain(everybody.websiteId, 'email=owner@example.com');
  expect(await eventStore.lastPosition()).toBe(before);
});

test('with the embedded sign-in it is known who signs in as an admin', async () => {
  const api = await startApi({
    signIn: (engine, baseUrl) =>
      createTestIdentity(engine, {
        email: createTestOutbox({ folder: temporaryFolder() }),
        baseUrl,
        adminEmails: ['admin@doorstep.local'],
      }),
  });
  const token = await api.mintToken({ subject: 'ops' });
  const { id } = (await api.call('POST', '/websites', { token, body: { name: 'A', slug: 'a' } })).body as { id: string };
  const person = async (query: string): Promise<unknown> =>
    ((await api.call('GET', `/websites/${id}/access?${query}`, { token })).body as Explanation).person;
  expect(await person('email=admin@doorstep.local')).toMatchObject({
    role: 'admin',
    roleFrom: 'account',
    standing: 'admin',
    why: 'They sign in as an admin.',
  });
  const why = 'Nobody is known by that.';
  expect(await person('email=anna@example.com')).toMatchObject({
    role: 'client',
    roleFrom: 'account',
    standing: 'stranger',
    why,
  });
  expect(await person('subject=ops')).toMatchObject({ role: 'admin', roleFrom: 'apiKey' });
  expect(await person('subject=anna')).toMatchObject({
    roleFrom: 'nothing',
    why: 'Nobody is known by that. Whether they are an admin, their own token alone says.',
  });
});

test('with accounts a subject is the client of the address that it signs in with', async () => {
  const email = 'anna@accounts.example';
  const api = await startApi({ identityProvider: accountsOf(new Map([['user-1', email]])) });
  const token = await api.mintToken({ subject: 'ops' });
  const made = async (path: string, body: unknown): Promise<string> =>
    ((await api.call('POST', path, { token, body })).body as { id: string }).id;
  const websiteId = await made('/websites', { name: 'A', slug: 'a' });
  const clientId = await made('/clients', { email });
  await api.call('POST', `/websites/${websiteId}/clients`, { token, body: { email, role: 'editor' } });
  for (const query of ['subject=user-1', `email=${email}`]) {
    const { body } = await api.call('GET', `/websites/${websiteId}/access?${query}`, { token });
    const expected = { email, clientId, standing: 'editor', roleFrom: 'account' };
    expect([query, (body as Explanation).person]).toEqual([query, expect.objectContaining(expected)]);
  }
});
