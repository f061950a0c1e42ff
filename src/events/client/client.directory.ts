import { canonicalAddress } from '../../platform/emailAddress.js';
import type { PersonalData } from '../../platform/personal.js';
import type { StreamReader } from '../streamReader.js';
import { clientEmailFold, clientFold, clientSubjectFold } from './client.state.js';

/**
 * What is needed to find a client: streams, and the blind index by which an address or a subject
 * appears in their names.
 */
export interface ClientDirectory extends Pick<StreamReader, 'state'> {
  readonly blindIndex: (text: string) => string;
  readonly personal: Pick<PersonalData, 'decrypt'>;
}

/**
 * To whom an invitation of the client goes, and who may accept it, as events hold an address: the
 * client's own once they are registered, since it may have changed.
 * @param invited the address that was invited
 */
export const recipientOf = async ({ state }: Pick<StreamReader, 'state'>, clientId: string, invited: string): Promise<string> => {
  const { state: client } = await state(clientFold, { clientId });
  return client.stage === 'registered' ? client.email : invited;
};

/** Whether somebody who has proved the address `verifiedEmail` may accept an invitation of the client. */
export const isRecipient = async (
  directory: Omit<ClientDirectory, 'blindIndex'>,
  clientId: string,
  invited: string,
  verifiedEmail: string | undefined,
): Promise<boolean> =>
  verifiedEmail !== undefined &&
  (await directory.personal.decrypt(await recipientOf(directory, clientId, invited))) === verifiedEmail;

/** The client of a lower-case address, if it is registered. None of a former one, also before it is released. */
export const clientIdOfEmail = async (directory: ClientDirectory, email: string): Promise<string | undefined> => {
  const { state } = await directory.state(clientEmailFold, { emailIndex: directory.blindIndex(email) });
  const { clientId } = state;
  return clientId !== undefined && (await isStillClient(directory, clientId, [email])) ? clientId : undefined;
};

/**
 * Whether the client is registered, and the caller goes by none of their former addresses, whose mail
 * somebody else may read by now.
 * @param names the caller's subject, which is an address at some issuers, and verified address
 */
const isStillClient = async (
  { state, personal }: ClientDirectory,
  clientId: string,
  names: readonly (string | undefined)[],
): Promise<boolean> => {
  const { state: client } = await state(clientFold, { clientId });
  if (client.stage !== 'registered') return false;
  if (client.formerEmails.length === 0) return true;
  const [present, ...former] = await Promise.all([client.email, ...client.formerEmails].map((email) => personal.decrypt(email)));
  const addresses = names.map((name) => (name === undefined ? undefined : canonicalAddress(name)));
  return !former.some((address) => address !== null && address !== present && addresses.includes(address));
};

/** The client that a subject is bound to, by whatever address it comes, unless it is a former address itself. */
export const clientBoundTo = async (directory: ClientDirectory, subject: string): Promise<string | undefined> => {
  const { state } = await directory.state(clientSubjectFold, { subjectIndex: directory.blindIndex(subject) });
  const { clientId } = state;
  return clientId !== undefined && (await isStillClient(directory, clientId, [subject])) ? clientId : undefined;
};

/**
 * The client that a signed-in subject is: the one it is bound to, else the one whose address the
 * verified one is. A client that was erased is never found, whatever else is left of it, and by a
 * former address none is: a subject is its client again when it comes with another address.
 */
export const clientIdOf = async (
  directory: ClientDirectory,
  subject: string,
  verifiedEmail?: string,
): Promise<string | undefined> => {
  const { state } = await directory.state(clientSubjectFold, { subjectIndex: directory.blindIndex(subject) });
  if (state.clientId !== undefined && (await isStillClient(directory, state.clientId, [subject, verifiedEmail]))) {
    return state.clientId;
  }
  return verifiedEmail === undefined ? undefined : clientIdOfEmail(directory, verifiedEmail);
};
