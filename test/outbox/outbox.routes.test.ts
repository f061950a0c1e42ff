import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createRoutes } from '../../src/http/routes/index.js';
import type { EmailSender, Outbox, OutboxMail } from '../../src/integrations/email/port.js';
import { startApi, type RunningApi } from '../support/http.js';
import { createTestOutbox } from '../support/outbox.js';
import { temporaryFolder } from '../support/temporary.js';

let api: RunningApi;
let outbox: EmailSender & Outbox;
let token: string;
beforeAll(async () => {
  const folder = join(temporaryFolder(), 'outbox');
  outbox = createTestOutbox({ folder });
  api = await startApi({ routes: (parts) => createRoutes({ ...parts, outbox }) });
  token = await api.mintToken();
  for (const to of ['ada@example.com', 'bob@example.com', 'ada@example.com']) {
    const id = api.engine.ids.commandId();
    const html = '<p><a href="https://doorstep.example/x">Open</a></p>';
    await outbox.send({ id, to, subject: `To ${to}`, text: 'https://doorstep.example/x', html });
  }
});

const list = async (path: string) => {
  const { status, body, headers } = await api.call('GET', path, { token });
  expect(status).toBe(200);
  return { mails: body as OutboxMail[], next: /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] };
};

describe('GET /outbox', () => {
  test('lists the mails, newest first', async () => {
    const { mails } = await list('/outbox');
    expect(mails).toStrictEqual(await outbox.list({ limit: 50 }));
    expect(mails).toHaveLength(3);
    expect(mails[0]).toMatchObject({ to: 'ada@example.com', links: ['https://doorstep.example/x'] });
  });

  test('goes page by page, for one recipient or all', async () => {
    expect((await list('/outbox?to=Bob@example.com')).mails.map(({ to }) => to)).toStrictEqual(['bob@example.com']);
    const first = await list('/outbox?to=ada@example.com&limit=1');
    expect(first.mails).toHaveLength(1);
    const rest = await list((first.next ?? '').replace(/^.*\/outbox/, '/outbox'));
    expect(rest.mails).toHaveLength(1);
    expect(rest.mails[0]?.id).not.toBe(first.mails[0]?.id);
    expect(rest.next).toBeUndefined();
  });

  test('by a client: 403', async () => {
    const client = await api.mintToken({ role: 'client', subject: 'ada' });
    expect((await api.call('GET', '/outbox', { token: client })).status).toBe(403);
  });

  test('where mails are really sent: 404', async () => {
    const other = await startApi({ environment: { SMTP_URL: 'smtp://127.0.0.1:1' } });
    expect((await other.call('GET', '/outbox', { token: await other.mintToken() })).status).toBe(404);
  });
});
