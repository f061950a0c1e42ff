import { beforeAll, describe, expect, test } from '@jest/globals';
import { Type, type TSchema } from 'typebox';
import { PersonalAddress, PersonalName, personalFieldsOf, PersonalText } from '../../src/http/personalFields.js';
import type { Reply } from '../../src/http/reply.js';
import { createRoutes } from '../../src/http/routes/index.js';
import type { Route } from '../../src/http/route.js';
import { decodeResponse, encodeResponse } from '../../src/http/storedResponse.js';
import { erased, type PersonalData } from '../../src/platform/personal.js';
import { startApi } from '../support/http.js';
import { openSecrets } from '../support/vaults.js';
import { createMemoryRecords } from '../workers/memoryStores.js';

const Person = Type.Object({ email: PersonalAddress, name: Type.Optional(PersonalName), city: Type.String() });
const InField = Type.Object({ by: Person });
const ada = { email: 'Ada@example.com', name: 'Ada', city: 'Riga' };
const berta = { email: 'berta@example.com', name: 'Berta', city: 'Oslo' };

let personal: PersonalData;
beforeAll(async () => {
  ({ personal } = await openSecrets(createMemoryRecords()));
});

const stored = async (
  schema: TSchema,
  body: unknown,
  people?: readonly string[],
): Promise<{ text: string; reply: () => Promise<Reply> }> => {
  const peopleIn = () => personalFieldsOf(schema);
  const reply = { status: 200, headers: {}, body: JSON.stringify(body), ...(people !== undefined && { people }) };
  const bytes = await encodeResponse(reply, peopleIn, personal);
  const { body: encoded } = JSON.parse(bytes.toString()) as { body: string };
  return { text: Buffer.from(encoded, 'base64').toString(), reply: () => decodeResponse(bytes, peopleIn, personal) };
};

describe('a stored response', () => {
  test.each<[string, TSchema, unknown]>([
    ['itself', Person, ada],
    ['in a list', Type.Array(Person), [ada, { ...berta, name: undefined }]],
    ['in a field', Type.Object({ owner: Type.Union([Person, Type.Null()]) }), { owner: ada }],
    ['in a branch', Type.Union([Type.Object({ a: Person }), Type.Object({ b: Type.Array(Person) })]), { b: [ada, berta] }],
    [
      'in a field that several branches have',
      Type.Union([InField, Type.Object({ by: Type.Object({ mail: PersonalAddress }) })]),
      { by: ada },
    ],
    ['in one of several lists', Type.Union([Type.Array(Person), Type.Array(InField)]), [ada, { by: berta }]],
    ['missing', Type.Object({ owner: Type.Union([Person, Type.Null()]) }), { owner: null }],
    ['nullable', Type.Object({ mail: Type.Union([PersonalAddress, Type.Null()]) }), { mail: ada.email }],
  ])('shows no person who is %s, and is read as it was', async (_, schema, body) => {
    const { text, reply } = await stored(schema, body);
    // By chance, letters of a ciphertext may be those of a name.
    expect(text.replaceAll(/encrypted:[\w:-]+/g, '')).not.toMatch(/ada|berta/i);
    const { body: read } = await reply();
    expect(JSON.parse(String(read))).toEqual(JSON.parse(JSON.stringify(body)));
  });

  test('leaves alone what is not marked, whatever it is called', async () => {
    const body = { email: ada.email, name: 'Bakery' };
    expect((await stored(Type.Object({ email: Type.String(), name: Type.String() }), body)).text).toBe(JSON.stringify(body));
    expect((await stored(Person, { ...ada, email: erased })).text).toContain('"name":"Ada"');
  });

  test('tells nothing of a person who was erased since', async () => {
    const { reply } = await stored(Type.Array(Person), [ada, berta]);
    await personal.cryptoShred(await personal.encrypt(berta.email, berta.email));
    expect(JSON.parse(String((await reply()).body))).toEqual([ada, { email: erased, city: berta.city }]);
  });
});

describe('a personal text without an address', () => {
  const Saved = Type.Object({ by: Type.Optional(Type.Object({ subject: PersonalText, name: Type.Optional(PersonalText) })) });
  const body = { by: { subject: 'ada-1', name: 'Ada' } };

  test('is stored as the answer has it among its people, and reads `[erased]` once the person is erased', async () => {
    const name = await personal.encrypt('ada.text@example.com', 'Ada');
    const { text, reply } = await stored(Saved, body, ['ada-1', name]);
    expect(text).toBe(JSON.stringify({ by: { subject: 'ada-1', name } }));
    expect(JSON.parse(String((await reply()).body))).toEqual(body);
    await personal.cryptoShred(name);
    expect(JSON.parse(String((await reply()).body))).toEqual({ by: { subject: 'ada-1', name: erased } });
  });

  test('that was erased already stays so', async () => {
    const { reply } = await stored(Saved, { by: { subject: erased, name: erased } });
    expect(JSON.parse(String((await reply()).body))).toEqual({ by: { subject: erased, name: erased } });
    expect((await stored(Saved, {})).text).toBe('{}');
  });

  test.each([
    ['is not among its people', undefined],
    ['is of somebody who was erased meanwhile', 'gone@example.com'],
  ])('is not stored when it %s', async (_, address) => {
    const name = address === undefined ? 'Berta' : await personal.encrypt(address, 'Ada');
    if (address !== undefined) await personal.cryptoShred(name);
    await expect(stored(Saved, body, ['ada-1', name])).rejects.toThrow('not among its people');
  });
});

/** Paths of the properties of that name whose schema has no mark. */
const unmarked = (schema: unknown, path = ''): string[] => {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, part]: [string, unknown]) =>
    /\.properties$/.test(path) && key === 'email' && !JSON.stringify(part).includes('x-personal')
      ? [`${path}.${key}`]
      : unmarked(part, `${path}.${key}`),
  );
};

test('every address in an answer of the service is marked', async () => {
  let routes: readonly Route[] = [];
  await startApi({ routes: (parts) => (routes = createRoutes(parts)), projector: false });
  const found = routes.flatMap(({ operationId, answers }) =>
    Object.values(answers).flatMap(({ schema }) => unmarked(schema).map((path) => `${operationId}${path}`)),
  );
  expect(routes.length).toBeGreaterThan(40);
  expect(found).toEqual([]);
});
