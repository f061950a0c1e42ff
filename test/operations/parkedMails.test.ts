import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { startMailServer } from '../support/mailServer.js';
import { createApi, mintToken, operate, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

test('a refused mail is parked, listed without its recipient, and sent again on request', async () => {
  let known = false;
  let refused = 0;
  const { port, received } = await startMailServer({
    onRcptTo: ({ address }, _session, done) => {
      if (!known) refused += 1;
      done(known ? null : Object.assign(new Error(`no mailbox ${address}`), { responseCode: 550 }));
    },
  });
  const folder = temporaryFolder();
  const server = await startServer(folder, { SMTP_URL: `smtp://127.0.0.1:${String(port)}` });
  const parked = (...args: string[]) => operate(folder, 'parkedMails', args);
  try {
    const api = createApi(server.address, await mintToken(folder));
    expect(await parked()).toBe('No mail is parked.');
    const { body: website } = await api.post('/websites', { name: 'Bakery', slug: 'bakery' });
    const { id } = website as { id: string };
    expect((await api.post(`/websites/${id}/clients`, { email: 'ada@example.com', role: 'viewer' })).status).toBe(201);

    // Each run of the script is a separate process.
    await eventually('a refusal', () => (refused > 0 ? true : undefined));
    const listed = await eventually('a mail is parked', async () => {
      const list = await parked();
      return list.startsWith('No mail') ? undefined : list;
    });
    expect(listed).toMatch(
      new RegExp(`^[0-9a-f-]{36}  20\\S+Z  website ${id}, invitation \\w{78}: The mail server refused: 550`),
    );
    expect(listed).not.toContain('ada@example.com');

    const mailId = listed.slice(0, 36);
    await expect(parked('--send-again', 'none')).rejects.toThrow('No parked mail none');
    known = true;
    expect(await parked('--send-again', mailId)).toContain('will be sent again');
    await eventually('the mail arrives', () => received[0]);
    expect(received.map(({ mail }) => mail.subject)).toStrictEqual(['You are invited to Bakery']);

    // The offer of ownership is mailed only on request.
    expect((await api.post(`/websites/${id}/transfers`, { email: 'bob@example.com' })).status).toBe(201);
    const { body: offer } = await api.post(`/websites/${id}/transfers`, { email: 'carol@example.com', sendEmail: true });
    const { mail } = await eventually('the offer arrives', () => received[1]);
    expect(mail).toMatchObject({ subject: 'Bakery is ready for you to take over', to: { text: 'carol@example.com' } });
    for (const part of [mail.text, mail.html]) expect(part).toContain((offer as { claimUrl: string }).claimUrl);
    expect(received).toHaveLength(2);
    await eventually('nothing is parked', async () => ((await parked()) === 'No mail is parked.' ? true : undefined));
    expect(server.written()).not.toContain('ada@example.com');
  } finally {
    await server.kill('SIGTERM');
  }
});
