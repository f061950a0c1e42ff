import { expect, test } from '@jest/globals';
import { startApi } from '../support/http.js';

test("a role is changed under If-Match of the website's access as it was read, and not once that has changed", async () => {
  const api = await startApi();
  const token = await api.mintToken({ role: 'admin' });
  const { body: website } = await api.call('POST', '/websites', { token, body: { name: 'Roles', slug: 'roles' } });
  const path = `/websites/${(website as { id: string }).id}/clients`;
  const { body: client } = await api.call('POST', '/clients', { token, body: { email: 'anna@example.com' } });
  await api.call('POST', path, { token, body: { email: 'anna@example.com', role: 'viewer' } });
  const etag = (await api.call('GET', path, { token })).headers.get('etag') ?? '';

  const change = (role: string) =>
    api.call('PATCH', `${path}/${(client as { id: string }).id}`, { token, body: { role }, headers: { 'if-match': etag } });
  expect(await change('editor')).toMatchObject({ status: 200, body: { role: 'editor' } });
  expect(await change('viewer')).toMatchObject({ status: 400, body: { error: 'Someone else saved while you were editing' } });
});
