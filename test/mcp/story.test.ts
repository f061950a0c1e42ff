import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from '@jest/globals';
import type { Progress } from '@modelcontextprotocol/client';
import { startAssistant } from '../support/assistant.js';
import { createApi, mintToken, startServer, type Api } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

const cliProgram = fileURLToPath(new URL('../../cli/dist/doorstep.js', import.meta.url));

let folder: string;
let address: string;
let token: string;
let api: Api;

beforeAll(async () => {
  folder = temporaryFolder();
  ({ address } = await startServer(folder));
  token = await mintToken(folder);
  api = createApi(address, token);
});

test.each(['2025', '2026'] as const)('an assistant of %s does a day’s work', async (era) => {
  const assistant = await startAssistant({ url: address, token, era });
  const slug = `corner-bakery-${era}`;
  const email = `anna${era}@example.com`;

  const steps: Progress[] = [];
  const created = await assistant.call('create_website', { name: `Corner Bakery ${era}` }, (step) => steps.push(step));
  expect(created).toMatchObject({
    isError: false,
    data: { website: { slug, status: 'active' }, provisioning: { status: 'succeeded' } },
  });
  expect(steps.at(-1)).toMatchObject({ progress: 6, total: 6 });
  // The protocol: "The progress value MUST increase with each notification".
  const progress = steps.map((step) => step.progress);
  expect(progress).toEqual([...new Set(progress)].sort((one, other) => one - other));
  expect(steps.map(({ message }) => message)).toContain('vercel_initial_deploy');

  const given = await assistant.call('give_access', { website: slug, email, role: 'editor' });
  expect(given.data).toMatchObject({ slug, email, role: 'editor', invitedUntil: expect.any(String) });

  const refused = await assistant.call('move_eta', { website: slug, readyBy: '2026-03-01' });
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('plan_delivery') });
  const planned = await assistant.call('plan_delivery', {
    website: slug,
    checkpoints: [
      { id: 'content-loaded', needed: 'opening hours' },
      { id: 'photos', label: 'Photos', due: '2026-02-01', order: 45 },
    ],
  });
  expect(planned.data).toMatchObject({
    delivery: {
      checkpoints: [
        { id: 'kickoff' },
        {},
        {},
        { needed: 'opening hours' },
        { id: 'photos', due: '2026-02-01T12:00:00.000Z' },
        {},
        {},
      ],
    },
  });
  const moved = await assistant.call('move_eta', {
    website: slug,
    readyBy: '2026-03-01',
    reason: 'The photos come a week later.',
    clientsSeeReason: true,
  });
  expect(moved.data).toMatchObject({ slug, delivery: { readyBy: '2026-03-01T12:00:00.000Z' } });
  const checked = await assistant.call('set_checkpoint', { website: slug, checkpoint: 'kickoff', status: 'done' });
  expect(checked.data).toMatchObject({
    delivery: { checkpoints: expect.arrayContaining([expect.objectContaining({ id: 'kickoff', status: 'done' })]) },
  });

  const late = await assistant.call('find_websites', { attention: 'late' });
  expect(late.data.websites).toContainEqual(expect.objectContaining({ slug, late: true, needed: ['opening hours'] }));

  const status = await assistant.call('website_status', { website: slug });
  expect(status.text).toContain(`${slug}: active; ready by 2026-03-01 (`);
  expect(status.text).toContain(', 1 of 7 checkpoints done, next: design-approved.');
  expect(status.data).toMatchObject({
    website: { slug, status: 'active' },
    delivery: { readyBy: '2026-03-01T12:00:00.000Z' },
    provisioning: { status: 'succeeded' },
  });
  const history = await assistant.call('delivery_history', { website: slug });
  expect(history.data.changes).toMatchObject([
    { revision: 2, changes: [{ path: 'checkpoints.kickoff.status', from: 'pending', to: 'done' }, {}] },
    { revision: 1, by: 'ops@example.com', reason: 'The photos come a week later.', clientsSeeReason: true },
    { revision: 0 },
  ]);
  const newest = await assistant.call('delivery_history', { website: slug, limit: 1 });
  expect(newest.text).toContain(`${slug}: 1 change; there are more: raise the limit.`);

  const who = await assistant.call('explain_access', { website: slug });
  expect(who.data.access).toEqual([{ email, role: 'editor', invitedUntil: expect.any(String) }]);
  const why = await assistant.call('explain_access', { website: slug, person: email });
  expect(why.data.person).toMatchObject({ email, standing: 'stranger', why: expect.stringContaining('invited') });
  const audit = await assistant.call('audit_log', { website: slug, actor: 'ops@example.com' });
  expect(audit.data.entries).toContainEqual(
    expect.objectContaining({ type: 'DeliveryReplaced', by: 'ops@example.com', via: 'mcp' }),
  );

  const { id } = (created.data as { website: { id: string } }).website;
  const bare = { estimatedCompletionAt: '2026-01-15T12:00:00.000Z', showPreviewUrl: false, checkpoints: [] };
  expect((await api.put(`/websites/${id}/delivery`, bare)).status).toBe(200);
  const overdue = await assistant.call('website_status', { website: slug });
  expect(overdue.text).toMatch(/ready by 2026-01-15 \(.*: late\), 0 of 0 checkpoints done/);
  const found = await assistant.call('find_websites', { attention: 'late' });
  expect(found.data.websites).toContainEqual(expect.objectContaining({ slug, late: true }));
  const pending = { id: 'texts', label: 'Texts', order: 10, status: 'pending', dueAt: '2026-01-15T12:00:00.000Z' };
  const ahead = { ...bare, estimatedCompletionAt: '9999-01-15T12:00:00.000Z', checkpoints: [pending] };
  expect((await api.put(`/websites/${id}/delivery`, ahead)).status).toBe(200);
  const behind = await assistant.call('find_websites', { attention: 'late' });
  expect(behind.text).toMatch(
    new RegExp(`- ${slug}: .*ready by 9999-01-15 \\(in [0-9]+ days\\), 0 of 1 done, a checkpoint is late`),
  );
  expect(behind.data.websites).toContainEqual(expect.objectContaining({ slug, late: true }));

  const missed = await assistant.call('website_status', { website: slug.replace('bakery', 'bakry') });
  expect(missed).toMatchObject({ isError: true, text: expect.stringContaining(slug) });
  expect(assistant.errors()).toBe('');
  expect((await api.get('/websites')).status).toBe(200);
});

test('an editor publishes what they saved, and may not touch the provisioning', async () => {
  const email = 'editor@example.com';
  const admin = await startAssistant({ url: address, token });
  await admin.call('create_website', { name: 'Florist' });
  await api.post('/clients', { email });
  expect((await admin.call('give_access', { website: 'florist', email, role: 'editor' })).isError).toBe(false);

  const editor = await startAssistant({ url: address, token: await mintToken(folder, 'client', email) });
  const sound = await admin.call('retry_provisioning', { website: 'florist', action: 'retry' });
  expect(sound).toMatchObject({ isError: true, text: expect.stringMatching(/has not failed\. There is nothing to retry/) });

  await editor.call('save_content', { website: 'florist', kind: 'content', id: 'hours', body: { open: '9 to 5' } });
  const published = await editor.call('publish_website', { website: 'florist', action: 'publish' });
  expect(published).toMatchObject({ isError: false, data: { slug: 'florist', deployment: expect.any(String) } });
  await expect(editor.call('retry_provisioning', { website: 'florist', action: 'retry' })).rejects.toThrow('not found');
  const audit = await admin.call('audit_log', { website: 'florist', actor: email });
  expect(audit.data.entries).toContainEqual(expect.objectContaining({ type: 'PublicationRequested', by: email, via: 'mcp' }));
});

test('an admin retries a provisioning that failed', async () => {
  const home = temporaryFolder();
  const other = await startServer(home, {
    GITHUB_TOKEN: 'token',
    GITHUB_OWNER: 'agency',
    GITHUB_TEMPLATE: 'agency/template',
    VERCEL_TOKEN: 'token',
    // A source host that knows none of GitHub's paths: a service.
    GITHUB_API_URL: address,
  });
  const assistant = await startAssistant({ url: other.address, token: await mintToken(home) });
  const created = await assistant.call('create_website', { name: 'Bookshop' });
  expect(created).toMatchObject({ data: { provisioning: { status: 'failed' } } });

  const retried = await assistant.call('retry_provisioning', { website: 'bookshop', action: 'retry' });
  expect(retried).toMatchObject({ isError: false, data: { slug: 'bookshop' } });
  const audit = await assistant.call('audit_log', { website: 'bookshop' });
  expect(audit.data.entries).toContainEqual(expect.objectContaining({ type: 'ProvisioningRetried', via: 'mcp' }));
});

test('the CLI serves the same tools, with the token that it has, and its changes are an assistant’s too', async () => {
  const command = [process.execPath, cliProgram, 'mcp'] as const;
  const assistant = await startAssistant({ url: address, token, command });
  await assistant.call('create_website', { name: 'By the CLI', wait: false });

  const audit = await assistant.call('audit_log', { website: 'by-the-cli' });

  expect(audit.data.entries).toContainEqual(expect.objectContaining({ type: 'WebsiteCreated', via: 'mcp' }));
});
