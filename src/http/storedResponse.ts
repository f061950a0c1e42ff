import { erased, type PersonalData } from '../platform/personal.js';
import type { PersonalFields } from './personalFields.js';
import type { Reply } from './reply.js';
import { canonicalAddress } from '../platform/emailAddress.js';

/** Where people are in an answer of a status; `null` when there are none. */
export type PeopleIn = (status: number) => PersonalFields | null;

/**
 * A reply as bytes to be stored. People in it are encrypted for themselves, as in an event, so that
 * an erasure reaches them here too.
 */
export const encodeResponse = async (
  { status, headers, body }: Reply,
  peopleIn: PeopleIn,
  personal: Pick<PersonalData, 'encrypt'>,
): Promise<Buffer> => {
  const encrypt: ChangePerson = async (address, names) => ({
    address: await personal.encrypt(canonicalAddress(address), address),
    names: await Promise.all(names.map((name) => personal.encrypt(canonicalAddress(address), name))),
  });
  const fields = peopleIn(status);
  const stored = typeof body === 'string' && fields !== null ? await changeText(body, fields, encrypt) : body;
  const encoded = stored === undefined ? null : Buffer.from(stored).toString('base64');
  return Buffer.from(JSON.stringify({ status, headers, body: encoded }));
};

/**
 * What `encodeResponse` was given. A person who was erased since has `[erased]` for an address and
 * no name.
 */
export const decodeResponse = async (
  bytes: Buffer,
  peopleIn: PeopleIn,
  personal: Pick<PersonalData, 'decrypt'>,
): Promise<Reply> => {
  const { status, headers, body } = JSON.parse(bytes.toString()) as Omit<Reply, 'body'> & { readonly body: string | null };
  if (body === null) return { status, headers };
  const decrypt: ChangePerson = async (address, names) => ({
    address: (await personal.decrypt(address)) ?? erased,
    names: await Promise.all(names.map((name) => personal.decrypt(name))),
  });
  const stored = Buffer.from(body, 'base64');
  const fields = peopleIn(status);
  return { status, headers, body: fields === null ? stored : await changeText(stored.toString(), fields, decrypt) };
};

type ChangePerson = (
  address: string,
  names: readonly string[],
) => Promise<{ readonly address: string; readonly names: readonly (string | null)[] }>;

const changeText = async (text: string, fields: PersonalFields, change: ChangePerson): Promise<string> =>
  JSON.stringify(await changeValue(JSON.parse(text), fields, change));

const changeValue = async (value: unknown, fields: PersonalFields | undefined, change: ChangePerson): Promise<unknown> => {
  if (typeof value !== 'object' || value === null || fields === undefined) return value;
  if (Array.isArray(value)) return Promise.all(value.map((entry) => changeValue(entry, fields.entries, change)));
  const parts = Object.entries(value).map(
    async ([field, part]) => [field, await changeValue(part, fields.inside.get(field), change)] as const,
  );
  return changePerson(Object.fromEntries(await Promise.all(parts)), fields, change);
};

const changePerson = async (
  value: Readonly<Record<string, unknown>>,
  { address: addressField, names: nameFields }: PersonalFields,
  change: ChangePerson,
): Promise<unknown> => {
  const address = addressField === undefined ? undefined : value[addressField];
  // `[erased]` is nobody's address.
  if (addressField === undefined || typeof address !== 'string' || address === erased) return value;
  const named = nameFields.flatMap((field): [string, string][] => {
    const name = value[field];
    return typeof name === 'string' ? [[field, name]] : [];
  });
  const changed = await change(
    address,
    named.map(([, name]) => name),
  );
  // A name that is gone is left out.
  const names = named.map(([field], index) => [field, changed.names[index] ?? undefined] as const);
  return { ...value, [addressField]: changed.address, ...Object.fromEntries(names) };
};
