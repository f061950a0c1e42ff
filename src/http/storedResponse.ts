import { Type } from 'typebox';
import { erased, type PersonalData } from '../platform/personal.js';
import { Actor } from './actors.js';
import { PersonalAddress, personalFieldsOf, type PersonalFields } from './personalFields.js';
import type { Reply } from './reply.js';
import type { Route } from './route.js';
import { canonicalAddress } from '../platform/emailAddress.js';

/** Where people are in an answer of a status; `null` when there are none. */
export type PeopleIn = (status: number) => PersonalFields | null;

/** What refusals say of people: who saved meanwhile, and as whom the caller is signed in. */
const peopleInRefusals = personalFieldsOf(
  Type.Object({ details: Type.Object({ updatedBy: Actor, signedInAs: PersonalAddress }) }),
);

/** Where people are in the answers of a route, refusals included. */
export const peopleInAnswersOf =
  ({ answers }: Pick<Route, 'answers'>): PeopleIn =>
  (status) =>
    status < 400 ? personalFieldsOf(answers[status]?.schema) : peopleInRefusals;

/**
 * A reply as bytes to be stored. People in it are encrypted for themselves, as in an event, so that
 * an erasure reaches them here too.
 * @throws Error when it shows a personal text that its `people` do not hold, or do not any more
 *   because of an erasure meanwhile: nobody could make it unreadable later
 */
export const encodeResponse = async (
  { status, headers, body, people = [] }: Reply,
  peopleIn: PeopleIn,
  personal: Pick<PersonalData, 'encrypt' | 'decrypt'>,
): Promise<Buffer> => {
  const encrypt = async (): Promise<Change> => {
    const encrypted = new Map(await Promise.all(people.map(async (text) => [await personal.decrypt(text), text] as const)));
    return {
      person: async (address, names) => ({
        address: await personal.encrypt(canonicalAddress(address), address),
        names: await Promise.all(names.map((name) => personal.encrypt(canonicalAddress(address), name))),
      }),
      text: (text) => {
        const known = text === erased ? erased : encrypted.get(text);
        if (known === undefined) throw new Error('the answer shows a personal text that is not among its people');
        return Promise.resolve(known);
      },
    };
  };
  const fields = peopleIn(status);
  const stored = typeof body === 'string' && fields !== null ? await changeBody(body, fields, await encrypt()) : body;
  const encoded = stored === undefined ? null : Buffer.from(stored).toString('base64');
  return Buffer.from(JSON.stringify({ status, headers, body: encoded }));
};

/**
 * What `encodeResponse` was given. A person who was erased since has `[erased]` for an address and
 * for what stands without one, and no name beside an address.
 */
export const decodeResponse = async (
  bytes: Buffer,
  peopleIn: PeopleIn,
  personal: Pick<PersonalData, 'decrypt'>,
): Promise<Reply> => {
  const { status, headers, body } = JSON.parse(bytes.toString()) as Omit<Reply, 'body'> & { readonly body: string | null };
  if (body === null) return { status, headers };
  const text = async (encrypted: string): Promise<string> => (await personal.decrypt(encrypted)) ?? erased;
  const decrypt: Change = {
    person: async (address, names) => ({
      address: await text(address),
      names: await Promise.all(names.map((name) => personal.decrypt(name))),
    }),
    text,
  };
  const stored = Buffer.from(body, 'base64');
  const fields = peopleIn(status);
  return { status, headers, body: fields === null ? stored : await changeBody(stored.toString(), fields, decrypt) };
};

interface Change {
  readonly person: (
    address: string,
    names: readonly string[],
  ) => Promise<{ readonly address: string; readonly names: readonly (string | null)[] }>;
  readonly text: (text: string) => Promise<string>;
}

const changeBody = async (text: string, fields: PersonalFields, change: Change): Promise<string> =>
  JSON.stringify(await changeValue(JSON.parse(text), fields, change));

const changeValue = async (value: unknown, fields: PersonalFields | undefined, change: Change): Promise<unknown> => {
  if (typeof value !== 'object' || value === null || fields === undefined) return value;
  if (Array.isArray(value)) return Promise.all(value.map((entry) => changeValue(entry, fields.entries, change)));
  const changePart = (field: string, part: unknown): Promise<unknown> =>
    typeof part === 'string' && fields.texts.includes(field)
      ? change.text(part)
      : changeValue(part, fields.inside.get(field), change);
  const parts = Object.entries(value).map(async ([field, part]) => [field, await changePart(field, part)] as const);
  return changePerson(Object.fromEntries(await Promise.all(parts)), fields, change);
};

const changePerson = async (
  value: Readonly<Record<string, unknown>>,
  { address: addressField, names: nameFields }: PersonalFields,
  change: Change,
): Promise<unknown> => {
  const address = addressField === undefined ? undefined : value[addressField];
  // `[erased]` is nobody's address.
  if (addressField === undefined || typeof address !== 'string' || address === erased) return value;
  const named = nameFields.flatMap((field): [string, string][] => {
    const name = value[field];
    return typeof name === 'string' ? [[field, name]] : [];
  });
  const changed = await change.person(
    address,
    named.map(([, name]) => name),
  );
  // A name that is gone is left out.
  const names = named.map(([field], index) => [field, changed.names[index] ?? undefined] as const);
  return { ...value, [addressField]: changed.address, ...Object.fromEntries(names) };
};
