import { erased, type PersonalData } from '../platform/personal.js';
import type { Reply } from './reply.js';

/**
 * A reply as bytes to keep. Whoever it names is in it as in an event, sealed for themselves, so that it ends with their erasure to show
 * them: in an answer a person is what has an `email`, and the `name` beside it is theirs.
 */
export const bytesOf = async ({ status, headers, body }: Reply, { encrypt }: Pick<PersonalData, 'encrypt'>): Promise<Buffer> => {
  const people = async ({ email, name }: Person): Promise<Partial<Person>> => ({
    email: await encrypt(email.toLowerCase(), email),
    ...(typeof name === 'string' && { name: await encrypt(email.toLowerCase(), name) }),
  });
  const kept = typeof body === 'string' ? await inAnswer(body, people) : body;
  return Buffer.from(JSON.stringify({ status, headers, body: kept === undefined ? null : Buffer.from(kept).toString('base64') }));
};

/** What `bytesOf` was given, with people as they may be shown now: of who was erased, no name and `[erased]` in place of the address. */
export const replyOf = async (bytes: Buffer, { decrypt }: Pick<PersonalData, 'decrypt'>): Promise<Reply> => {
  const { status, headers, body } = JSON.parse(bytes.toString()) as Omit<Reply, 'body'> & { readonly body: string | null };
  if (body === null) return { status, headers };
  const people = async ({ email, name }: Person): Promise<Partial<Person>> => ({
    email: (await decrypt(email)) ?? erased,
    ...(typeof name === 'string' && { name: (await decrypt(name)) ?? undefined }),
  });
  const isJson = headers['content-type']?.startsWith('application/json') === true;
  const kept = Buffer.from(body, 'base64');
  return { status, headers, body: isJson ? await inAnswer(kept.toString(), people) : kept };
};

interface Person {
  readonly email: string;
  readonly name?: unknown;
}

type Change = (person: Person) => Promise<Partial<Person>>;

/** The same JSON text when nobody is in it. */
const inAnswer = async (text: string, change: Change): Promise<string> =>
  text.includes('"email":') ? JSON.stringify(await changed(JSON.parse(text), change)) : text;

const changed = async (value: unknown, change: Change): Promise<unknown> => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Promise.all(value.map((part) => changed(part, change)));
  const parts = Object.entries(value).map(async ([field, part]) => [field, await changed(part, change)] as const);
  const whole: Record<string, unknown> = Object.fromEntries(await Promise.all(parts));
  // `[erased]` is nobody's address.
  return isPerson(whole) ? { ...whole, ...(await change(whole)) } : whole;
};

const isPerson = (value: Readonly<Record<string, unknown>>): value is Readonly<Record<string, unknown>> & Person =>
  typeof value['email'] === 'string' && value['email'] !== erased;
