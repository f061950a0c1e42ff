import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach } from '@jest/globals';
import { simpleParser, type ParsedMail } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A real SMTP server in this process, which stores the mails that it accepts. */
export interface MailServer {
  readonly port: number;
  readonly received: readonly { readonly mail: ParsedMail; readonly user: string | undefined }[];
  readonly close: () => Promise<void>;
}

const opened = new Set<MailServer>();
afterEach(async () => {
  await Promise.all([...opened].map((server) => server.close()));
});

/**
 * Starts a server that accepts every mail by default, and closes it after the test at the latest.
 */
export const startMailServer = async (options: SMTPServerOptions = {}, host = '127.0.0.1'): Promise<MailServer> => {
  const received: { readonly mail: ParsedMail; readonly user: string | undefined }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    onData: (stream, session, done) => {
      simpleParser(stream).then(
        (mail) => {
          received.push({ mail, user: session.user });
          done();
        },
        (error: unknown) => {
          done(error as Error);
        },
      );
    },
    ...options,
  });
  // Connection errors are checked on the client's side.
  server.on('error', () => undefined);
  server.listen(0, host);
  await once(server.server, 'listening');
  const mailServer: MailServer = {
    port: (server.server.address() as AddressInfo).port,
    received,
    close: async () => {
      if (!opened.delete(mailServer)) return;
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
  opened.add(mailServer);
  return mailServer;
};
