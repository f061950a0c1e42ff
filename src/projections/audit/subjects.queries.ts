import { clientIdOfEmail } from '../../events/client/client.directory.js';
import { canonicalAddress } from '../../platform/emailAddress.js';
import { tokensOfAddress } from '../erasure/erasureTargets.queries.js';
import { clientSubjectProjection } from '../client/clientSubject.projection.js';
import { everyDocument } from '../everyDocument.js';
import type { Reader } from '../reader.js';

/** Knows as whom somebody with a lower-case address signs in. */
export interface Accounts {
  accountOf?(email: string): Promise<{ readonly subject: string }>;
}

/**
 * The subjects that `text` may mean, as events hold them: a subject, the name of a process, or
 * everybody who signs in with an address. Of an erased person none is found by the address.
 * @throws as `Reader.list`
 */
export const subjectsCalled = async (reader: Reader, text: string, accounts: Accounts | null): Promise<readonly string[]> => {
  const { personal } = reader;
  const subjectAsStored = (subject: string): Promise<string> => personal.encryptSubject(subject, { makeKey: false });
  const own = await subjectAsStored(text);
  if (!text.includes('@')) return [own];

  const email = canonicalAddress(text);
  const clientId = await clientIdOfEmail(reader, email);
  const [bound, tokens, account] = await Promise.all([
    clientId === undefined ? [] : everyDocument(reader, clientSubjectProjection, { clientId }),
    tokensOfAddress(reader, await personal.encrypt(email, email, { makeKey: false })),
    accounts?.accountOf?.(email),
  ]);
  const signedIn = account === undefined ? [] : [await subjectAsStored(account.subject)];
  return [...new Set([own, await subjectAsStored(email), ...signedIn, ...[...bound, ...tokens].map(({ subject }) => subject)])];
};
