import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import type { Mail } from '../../src/integrations/email/port.js';
import { createSmtpSender } from '../../src/integrations/email/smtp.js';
import { ProviderFault } from '../../src/integrations/fault.js';
import type { SmtpServer } from '../../src/platform/settings/mail.js';
import { collectLogs } from '../support/logs.js';
import { startMailServer } from '../support/mailServer.js';
import { createTestClock } from '../support/testClock.js';

const clock = createTestClock();
const from = 'Doorstep <no-reply@doorstep.example>';

const mail: Mail = {
  id: '0190a000-0000-7000-8000-000000000001',
  to: 'ada@example.com',
  subject: 'Grüße aus dem Café ☕',
  text: 'Open https://doorstep.example/x?a=1&b=2\n',
  html: `<p>${'ü'.repeat(2_000)}</p>`,
};

const senderFor = (port: number, server: Partial<SmtpServer> = {}, logger = collectLogs().logger) =>
  createSmtpSender({ server: { host: '127.0.0.1', port, secure: false, ...server }, from, clock, logger });

const faultOf = async (sending: Promise<void>): Promise<ProviderFault> => {
  const error = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ProviderFault)) throw new Error(`not a ProviderFault: ${String(error)}`);
  return error;
};

test('a mail arrives with both bodies, marked as auto-generated', async () => {
  const { received, port } = await startMailServer();
  await senderFor(port).send(mail);
  expect(received).toHaveLength(1);
  const arrived = received[0]?.mail;
  expect(arrived?.from?.text).toBe('"Doorstep" <no-reply@doorstep.example>');
  expect(arrived?.to).toMatchObject({ text: mail.to });
  expect(arrived?.subject).toBe(mail.subject);
  expect(arrived?.text).toBe(mail.text);
  expect(arrived?.html).toBe(mail.html);
  expect(arrived?.headers.get('auto-submitted')).toBe('auto-generated');
});

test('a repeated mail has the same Message-ID, another mail a different one', async () => {
  const { received, port } = await startMailServer();
  const sender = senderFor(port);
  await sender.send(mail);
  await sender.send(mail);
  await sender.send({ ...mail, id: '0190a000-0000-7000-8000-000000000002' });
  const [first, again, other] = received.map(({ mail: { messageId } }) => messageId);
  expect(first).toBe(`<${mail.id}@doorstep.example>`);
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});

test('the credentials are sent to the server, and appear nowhere else', async () => {
  const { received, port } = await startMailServer({
    onAuth: ({ username, password }, _session, done) => {
      if (username === 'doorstep' && password === 's3cret+word') done(null, { user: username });
      else done(new Error('Wrong credentials'));
    },
  });
  await senderFor(port, { credentials: { user: 'doorstep', pass: 's3cret+word' } }).send(mail);
  expect(received.map(({ user }) => user)).toStrictEqual(['doorstep']);

  const { logger, lines } = collectLogs();
  const fault = await faultOf(senderFor(port, { credentials: { user: 'doorstep', pass: 'wr0ng+word' } }, logger).send(mail));
  // The operator fixes the settings, and waiting mails must then be sent.
  expect(fault.transient).toBe(true);
  expect(`${fault.message}${lines().join('')}`).not.toContain('wr0ng+word');
});

test('a server beyond this machine gets no password without TLS', async () => {
  let asked = false;
  // An address that counts as another machine's.
  const host = '127.0.0.2';
  const { received, port } = await startMailServer(
    {
      onAuth: (_auth, _session, done) => {
        asked = true;
        done(null, { user: 'doorstep' });
      },
    },
    host,
  );
  const fault = await faultOf(senderFor(port, { host, credentials: { user: 'doorstep', pass: 'word' } }).send(mail));
  expect(fault.transient).toBe(true);
  expect(asked).toBe(false);
  await senderFor(port, { host }).send(mail);
  expect(received).toHaveLength(1);
});

describe('what a mail server says', () => {
  const refusing = (code: number, words: string) => ({
    onRcptTo: (_address: unknown, _session: unknown, done: (error?: Error) => void) => {
      done(Object.assign(new Error(words), { responseCode: code }));
    },
  });

  test.each([
    ['a recipient that does not exist', 550, false],
    ['a full mailbox', 452, true],
    ['greylisting', 450, true],
    ['a policy', 554, false],
  ])('of %s (%i) is reported without the address', async (_, code, transient) => {
    const { received, port } = await startMailServer(refusing(code, `<Ada@Example.com> is not taken`));
    const fault = await faultOf(senderFor(port).send(mail));
    expect(fault).toMatchObject({ provider: 'smtp', transient });
    expect(fault.message).toContain(String(code));
    expect(received).toHaveLength(0);
  });

  test('of the content of a mail (554) is for good, and its breaker stays closed for others', async () => {
    let refuses = true;
    const { port } = await startMailServer({
      onData: (stream, _session, done) => {
        stream.resume().once('end', () => {
          done(refuses ? Object.assign(new Error('looks like spam'), { responseCode: 554 }) : null);
        });
      },
    });
    const sender = senderFor(port);
    for (let count = 0; count < 8; count += 1) expect(await faultOf(sender.send(mail))).toMatchObject({ transient: false });
    refuses = false;
    await sender.send(mail);
  });

  test('when it accepts a mail is logged without the address', async () => {
    const { logger, lines } = collectLogs();
    const { port } = await startMailServer();
    await senderFor(port, {}, logger).send(mail);
    expect(lines().join('')).toContain(mail.id);
    expect(lines().join('')).not.toContain(mail.to);
  });
});

describe('is worth another attempt', () => {
  test('a server that cannot be reached', async () => {
    const { port, close } = await startMailServer();
    await close();
    expect(await faultOf(senderFor(port).send(mail))).toMatchObject({ transient: true });
  });

  test('a server after many failed connections, for which the circuit breaker opens; others are not affected', async () => {
    const { port, close } = await startMailServer();
    await close();
    const sender = senderFor(port);
    const first = await faultOf(sender.send(mail));
    expect(first.retryAfterMs).toBeUndefined();
    for (let attempt = 2; attempt <= 8; attempt += 1) await faultOf(sender.send(mail));
    expect(await faultOf(sender.send(mail))).toMatchObject({ transient: true, retryAfterMs: 10_000 });
    const other = await startMailServer();
    await senderFor(other.port).send(mail);
    expect(other.received).toHaveLength(1);
  });

  test('a server that does not take the sender', async () => {
    const { port } = await startMailServer({
      onMailFrom: (_address, _session, done) => {
        done(Object.assign(new Error('Sender address rejected: not owned by user'), { responseCode: 553 }));
      },
    });
    const fault = await faultOf(senderFor(port).send(mail));
    expect(fault).toMatchObject({ transient: true, message: expect.stringContaining('Sender address rejected') });
  });

  test('a server that disconnects during a mail, which is sent when the server is back', async () => {
    let hangUp = true;
    const { received, port } = await startMailServer({
      onMailFrom: (_address, _session, done) => {
        done(hangUp ? Object.assign(new Error('closing'), { responseCode: 421 }) : null);
      },
    });
    const sender = senderFor(port);
    expect(await faultOf(sender.send(mail))).toMatchObject({ transient: true });
    hangUp = false;
    await sender.send(mail);
    expect(received).toHaveLength(1);
  });

  test('something that is no mail server', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      expect(await faultOf(senderFor((server.address() as AddressInfo).port).send(mail))).toMatchObject({ transient: true });
    } finally {
      server.close();
    }
  });
});

test.each([
  ['a second recipient', { to: 'ada@example.com, eve@example.com' }],
  ['a header in the address', { to: 'ada@example.com\r\nBcc: eve@example.com' }],
])('%s is a permanent fault, without a connection', async (_, changes) => {
  const { received, port } = await startMailServer();
  expect(await faultOf(senderFor(port).send({ ...mail, ...changes }))).toMatchObject({ transient: false });
  expect(received).toHaveLength(0);
});
