import type { Reader } from '../reader.js';
import { apiKeyProjection, type APIKeyDocument } from './apiKey.projection.js';

/** The keys of one subject that are not revoked. */
interface KeysOf {
  readonly subject: string;
  /** Only keys of this role; absent: of either. */
  readonly role?: 'client';
}

/** The subject as documents may hold it. */
const storedForms = async (reader: Reader, subject: string): Promise<readonly string[]> => [
  subject,
  await reader.personal.encryptSubject(subject, { makeKey: false }),
];

const selectionOf = async (reader: Reader, { subject, role }: KeysOf) => ({
  where: { subject: await storedForms(reader, subject), ...(role !== undefined && { role }) },
});

/** These keys, newest first. */
export const listApiKeys = async (
  reader: Reader,
  { after, limit, ...of }: KeysOf & { readonly after?: string; readonly limit: number },
): Promise<readonly APIKeyDocument[]> => {
  const found = await reader.list(apiKeyProjection, {
    ...(await selectionOf(reader, of)),
    order: 'descending',
    ...(after !== undefined && { after }),
    limit,
  });
  return found.map(({ body }) => body);
};

/** How many keys the list is of. */
export const countApiKeys = async (reader: Reader, of: KeysOf): Promise<number> =>
  reader.count(apiKeyProjection, await selectionOf(reader, of));

/** The key of this id as of now, if it is one of these. */
export const readApiKeyOf = async (reader: Reader, { subject, role }: KeysOf, id: string): Promise<APIKeyDocument | null> => {
  const { document } = await reader.read(apiKeyProjection, id);
  if (document === null || (role !== undefined && document.role !== role)) return null;
  return (await storedForms(reader, subject)).includes(document.subject) ? document : null;
};
