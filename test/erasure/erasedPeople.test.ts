import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { accessStream, keyOfInvitation } from '../../src/events/access/access.stream.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';

let api: RunningApi;
let admin: string;
beforeAll(async () => {
  api = await startApi();
  admin = await api.mintToken();
});

const post = (path: string, body: unknown, token = admin): Promise<ApiAnswer> =>
  api.call('POST', path, {
    token,
    body,
    headers: {
      'idempotency-key': Buffer.from(JSON.stringify([path, body]))
        .toString('hex')
        .slice(-200),
    },
  });

const replayed = async (path: string, body: unknown, token = admin): Promise<ApiAnswer> => {
  const answer = await post(path, body, token);
  expect(answer.headers.get('idempotent-replayed')).toBe('true');
  return answer;
};

/** What is kept, as far as the service alone can open it. */
const storedResponses = async (): Promise<string> => {
  const cipher = api.engine.vault.cipher('doorstep kept answers');
  const files = readdirSync(api.folder).filter((name) => name.startsWith('records.db'));
  const text = files.map((name) => readFileSync(join(api.folder, name), 'latin1')).join('\n');
  const ids = new Set(
    [...text.matchAll(/idempotency"?([0-9a-f]{64})|"([0-9a-f]{64})"/g)].map(([, one, other]) => one ?? other ?? ''),
  );
  const opened: string[] = [];
  for (const id of ids) {
    const record = (await api.engine.readModels.records.get('idempotency', id)) as { reply?: string } | null;
    if (record?.reply === undefined) continue;
    const { body } = JSON.parse((await cipher.decrypt(record.reply, id)).toString()) as { body: string };
    opened.push(Buffer.from(body, 'base64').toString());
  }
  expect(opened.length).toBeGreaterThanOrEqual(4);
  return opened.join('\n');
};

test('responses stored for an `Idempotency-Key` say of an erased person only that they were erased, and are otherwise unchanged', async () => {
  const [email, name] = ['Annabella@Erasable.example', 'Annabella Quintessa'];
  const { id: websiteId } = (await post('/websites', { name, slug: 'bakery' })).body as { id: string };
  const { id: other } = (await post('/clients', { email: 'ada@example.com', name: 'Ada' })).body as { id: string };
  const invite = { email, role: 'editor' };
  const asked: (readonly [string, unknown, string])[] = [];
  const ask = async (path: string, body: unknown, token = admin): Promise<ApiAnswer> => {
    asked.push([path, body, token]);
    return post(path, body, token);
  };

  const invited = await ask(`/websites/${websiteId}/clients`, invite);
  const { invitation } = invited.body as { invitation: { id: string } };
  await ask(`/websites/${websiteId}/client-invitations/${invitation.id}/resend`, undefined);
  await ask(`/websites/${websiteId}/transfers`, { email });
  const anna = await api.mintToken({ role: 'client', subject: 'anna', verifiedEmail: email.toLowerCase() });
  const claimed = await ask(`/invitations/${invitation.id}/claim`, undefined, anna);
  const { clientId } = (claimed.body as { link: { clientId: string } }).link;
  await api.call('PATCH', `/clients/${clientId}`, { token: admin, body: { name } });
  const { id: second } = (await post('/websites', { name: 'x', slug: 'second' })).body as { id: string };
  await api.call('POST', `/websites/${second}/clients`, { token: admin, body: invite });
  await ask(`/websites/${second}/clients`, invite);

  const before = [];
  for (const [path, body, token] of asked) before.push((await replayed(path, body, token)).text);
  expect(before[0]).toBe(invited.text);
  expect(before.join()).toContain(name);
  for (const text of before) expect(text.toLowerCase()).toContain('annabella@erasable.example');
  expect(await storedResponses()).not.toMatch(/annabella@|ada@/i);

  expect((await api.call('DELETE', `/clients/${clientId}`, { token: admin })).status).toBe(204);
  for (const [path, body] of asked.filter(([, , token]) => token === admin)) {
    const { status, text } = await replayed(path, body);
    expect(status).toBeLessThan(300);
    expect(text).toContain('"email":"[erased]"');
    expect(text).not.toMatch(/annabella|quintessa|encrypted:/i);
  }
  expect((await replayed('/clients', { email: 'ada@example.com', name: 'Ada' })).body).toMatchObject({
    id: other,
    email: 'ada@example.com',
    name: 'Ada',
  });
  // What is no person's stays, whatever it says.
  expect((await replayed('/websites', { name: 'x', slug: 'second' })).body).toMatchObject({ id: second, name: 'x' });
});

test('somebody who was only invited is erased by registering and erasing the address', async () => {
  const email = 'only.invited@example.com';
  const { id: websiteId } = (await post('/websites', { name: 'Library', slug: 'library' })).body as { id: string };
  const path = `/websites/${websiteId}/clients`;
  const invited = await post(path, { email, role: 'viewer' });
  await post(`/websites/${websiteId}/transfers`, { email });
  const invitationsNow = async (): Promise<readonly unknown[]> => [
    ...((await api.call('GET', path, { token: admin })).body as { invitations: unknown[] }).invitations,
    ...((await api.call('GET', `/websites/${websiteId}/transfers`, { token: admin })).body as unknown[]),
  ];
  expect(await invitationsNow()).toMatchObject([{ email }, { email }]);
  const key = keyOfInvitation((invited.body as { invitation: { id: string } }).invitation.id);
  const { events } = await api.engine.eventStore.readStream(accessStream.name(key ?? { websiteId, clientId: '' }));
  const encrypted = events.map(({ data }) => data['email'] as string);
  expect(await Promise.all(encrypted.map((text) => api.engine.personal.decrypt(text)))).toStrictEqual([email, email]);

  const { id: clientId } = (await post('/clients', { email })).body as { id: string };
  expect((await api.call('DELETE', `/clients/${clientId}`, { token: admin })).status).toBe(204);
  expect(await invitationsNow()).toStrictEqual([]);
  expect(await Promise.all(encrypted.map((text) => api.engine.personal.decrypt(text)))).toStrictEqual([null, null]);
  expect((await replayed(path, { email, role: 'viewer' })).text).not.toContain('invited@');
});
