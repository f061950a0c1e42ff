import { createEmbeddedIdentity, type EmbeddedIdentity } from '../../src/integrations/identity/embedded.js';
import { mailsFolder } from './mails.js';
import type { TestProcess } from './process.js';

type Options = Parameters<typeof createEmbeddedIdentity>[0];

/** The sign-in by e-mail of a process: it logs no codes, nobody is an admin, and the portal has one origin. */
export const createTestIdentity = (
  process: TestProcess,
  options: Pick<Options, 'email' | 'baseUrl'> & Partial<Options>,
): EmbeddedIdentity =>
  createEmbeddedIdentity({
    ...process,
    mailsFolder,
    records: process.readModels.records,
    logsSignInCodes: false,
    origins: [],
    adminEmails: [],
    ...options,
  });
