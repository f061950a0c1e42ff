import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { projections } from '../../src/projections/catalogue.js';
import { eventually } from '../support/eventually.js';
import { createApi, mintToken, operate, startServer, type Api, type ServerProcess } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

const email = 'annabella.erasable@example.com';
const name = 'Annabella Quintessa Erasable';

/** Every encoding in which a text may appear in a file. */
const formsOf = (text: string): readonly Buffer[] => {
  const bytes = Buffer.from(text);
  // Within other bytes base64 has three possible offsets, and its first and last characters depend
  // on the neighbours.
  const encoded = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(4, -4),
  );
  return [
    bytes,
    Buffer.from(text, 'utf16le'),
    Buffer.from(text, 'utf16le').swap16(),
    ...encoded.map((form) => Buffer.from(form)),
    ...encoded.map((form) => Buffer.from(form.replaceAll('+', '-').replaceAll('/', '_'))),
    Buffer.from(bytes.toString('hex')),
    Buffer.from(encodeURIComponent(text)),
    Buffer.from(JSON.stringify(text).slice(1, -1)),
  ];
};

const forms = [email, email.toUpperCase(), name, 'Quintessa', 'annabella.erasable'].flatMap(formsOf);

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

const filesNaming = (folder: string): readonly string[] =>
  filesIn(folder).filter((file) => {
    const content = readFileSync(file);
    return forms.some((form) => content.includes(form));
  });

const bodyOf = async <Body>(asked: Promise<{ status: number; body: unknown }>, status: number): Promise<Body> => {
  const answer = await asked;
  expect([answer.status, answer.body]).toEqual([status, answer.body]);
  return answer.body as Body;
};

interface Website {
  readonly id: string;
}

const mailsTo = async (admin: Api): Promise<readonly { links: readonly string[] }[]> =>
  (await admin.get(`/outbox?to=${email}`)).body as readonly { links: readonly string[] }[];

/** The responses of every route that lists or shows people. */
const answers = async (admin: Api, websites: readonly Website[], clientId: string): Promise<string> => {
  const paths = [
    '/clients',
    `/clients?q=quintessa`,
    `/clients?email=${email}`,
    `/clients/${clientId}`,
    '/outbox',
    '/websites',
    ...websites.flatMap(({ id }) => [`/websites/${id}`, `/websites/${id}/clients`, `/websites/${id}/delivery/history`]),
  ];
  const bodies: unknown[] = [];
  for (const path of paths) bodies.push((await admin.get(path)).body);
  return JSON.stringify(bodies);
};

test('an erased person is in no response, rebuilt read model, file or log, and may come back', async () => {
  const folder = temporaryFolder();
  const logs: ServerProcess[] = [];
  const start = async (): Promise<ServerProcess> => {
    const server = await startServer(folder, { LOG_LEVEL: 'trace' });
    logs.push(server);
    return server;
  };
  const first = await start();
  const admin = createApi(first.address, await mintToken(folder));

  const websites: Website[] = [];
  for (const slug of ['owned', 'linked', 'invited']) {
    websites.push(await bodyOf<Website>(admin.post('/websites', { name: 'Corner Bakery', slug }), 201));
  }
  const [owned, linked, invited] = websites as [Website, Website, Website];
  for (const [{ id }, key] of [
    [linked, 'one'],
    [invited, 'two'],
  ] as const) {
    await bodyOf(admin.post(`/websites/${id}/clients`, { email, role: 'editor' }, { 'idempotency-key': key }), 201);
  }
  // The background work has ended, so files no longer change.
  await eventually('both mails', async () => ((await mailsTo(admin)).length === 2 ? true : undefined));
  for (const { id } of websites) {
    await eventually('the website', async () =>
      ((await admin.get(`/websites/${id}`)).body as { status: string }).status === 'active' ? true : undefined,
    );
  }
  const { invitations } = await bodyOf<{ invitations: readonly { id: string }[] }>(
    admin.get(`/websites/${linked.id}/clients`),
    200,
  );
  const tokens = [await mintToken(folder, 'client', email), await mintToken(folder, 'admin', email)];
  const [anna, annaAsAdmin] = tokens.map((token) => createApi(first.address, token)) as [Api, Api];
  const { link } = await bodyOf<{ link: { clientId: string } }>(anna.post(`/invitations/${invitations[0]?.id ?? ''}/claim`), 200);
  const { clientId } = link;
  await bodyOf(admin.patch(`/clients/${clientId}`, { name }), 200);
  await bodyOf(admin.patch(`/websites/${owned.id}`, { clientId }), 200);
  await bodyOf(annaAsAdmin.put(`/websites/${owned.id}/delivery`, {}), 200);
  await bodyOf(anna.post('/api-keys', { name: 'mine' }), 201);
  const me = await bodyOf<{ subject: string; client: object; websites: readonly unknown[] }>(anna.get('/me'), 200);
  expect(me).toMatchObject({ subject: email, email, client: { email, name } });
  expect(me.websites).toHaveLength(2);

  const before = await answers(admin, websites, clientId);
  for (const text of [email, name, `"subject":"${email}"`]) expect(before).toContain(text);
  // Only stored mails contain the person's data.
  expect(filesNaming(folder).filter((file) => !file.startsWith(join(folder, 'outbox')))).toEqual([]);
  expect(filesNaming(folder)).not.toEqual([]);

  // Three addresses in all: the former one, the present one, and one that is still to be confirmed.
  const [present, pending] = [email.replace('.com', '.org'), email.replace('.com', '.net')] as const;
  const linkTo = async (address: string): Promise<string> =>
    eventually(`the mail to ${address}`, async () => {
      const [mail] = (await admin.get(`/outbox?to=${address}`)).body as readonly { links: readonly string[] }[];
      return mail?.links[0];
    });
  expect(await bodyOf(admin.patch(`/clients/${clientId}`, { email: present }), 200)).toMatchObject({
    email,
    pendingEmail: present,
  });
  const link2 = await linkTo(present);
  const open = async (method: string): Promise<{ status: number; text: string }> => {
    const answer = await fetch(link2, { method });
    return { status: answer.status, text: await answer.text() };
  };
  expect((await fetch(link2.replace(/.$/, '~'), { method: 'POST' })).status).toBe(404);
  expect(await open('GET')).toMatchObject({ status: 200, text: expect.stringContaining('<form method="post"') });
  expect(((await admin.get(`/clients/${clientId}`)).body as { email: string }).email).toBe(email);
  for (const time of ['first', 'second']) {
    const confirmed = await open('POST');
    expect([time, confirmed.status, confirmed.text.includes('Your address is confirmed')]).toEqual([time, 200, true]);
  }
  expect((await admin.get(`/clients/${clientId}`)).body).toMatchObject({ email: present, name });
  expect((await anna.get('/me')).status).toBe(401);
  const annaNow = createApi(first.address, await mintToken(folder, 'client', present));
  expect((await annaNow.get('/me')).body).toMatchObject({ client: { id: clientId, email: present } });
  await eventually('the notice', async () => ((await mailsTo(admin)).length === 3 ? true : undefined));
  await bodyOf(admin.patch(`/clients/${clientId}`, { email: pending }), 200);
  await linkTo(pending);

  const planned = await bodyOf<{ events: readonly { type: string }[] }>(admin.delete(`/clients/${clientId}?dryRun=1`), 200);
  expect(planned.events.map(({ type }) => type)).toContain('ClientErased');
  expect((await admin.delete(`/clients/${clientId}`)).status).toBe(204);

  for (const token of tokens) expect((await createApi(first.address, token).get('/me')).status).toBe(401);
  const gone = { status: 404, body: { error: `Client ${clientId} does not exist`, code: 'client_not_found', details: null } };
  expect(await admin.get(`/clients/${clientId}`)).toMatchObject(gone);
  expect(await admin.delete(`/clients/${clientId}`)).toMatchObject(gone);
  const after = await answers(admin, websites, clientId);
  expect(after).toContain('"subject":"[erased]"');
  await operate(
    folder,
    'rebuildProjection',
    projections.map((projection) => projection.name),
  );
  const rebuilt = await answers(admin, websites, clientId);
  for (const text of [after, rebuilt]) {
    expect(text).not.toMatch(/annabella|quintessa|encrypted:/i);
    expect(text).not.toContain(`"clientId":"${clientId}"`);
  }
  expect(filesNaming(folder)).toEqual([]);
  expect(await first.kill('SIGTERM')).toBe(0);
  expect(filesNaming(folder)).toEqual([]);

  const second = await start();
  const adminAgain = createApi(second.address, await mintToken(folder));
  const { invitation } = await bodyOf<{ invitation: { id: string; email: string } }>(
    adminAgain.post(`/websites/${linked.id}/clients`, { email, role: 'viewer' }),
    201,
  );
  expect(invitation.email).toBe(email);
  const [mail] = await eventually('the mail', async () => {
    const mails = await mailsTo(adminAgain);
    return mails.length > 0 ? mails : undefined;
  });
  expect(mail?.links.join()).toContain(invitation.id);
  const annaAgain = createApi(second.address, await mintToken(folder, 'client', email));
  const again = await bodyOf<{ link: { clientId: string } }>(annaAgain.post(`/invitations/${invitation.id}/claim`), 200);
  expect(again.link.clientId).not.toBe(clientId);
  expect((await annaAgain.get('/me')).body).toMatchObject({ client: { email }, websites: [{ id: linked.id }] });
  await second.kill('SIGTERM');

  for (const { written } of logs) expect(forms.filter((form) => Buffer.from(written()).includes(form))).toEqual([]);
}, 90_000);
