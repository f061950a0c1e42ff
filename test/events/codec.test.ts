import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { catalogue } from '../../src/events/catalogue.js';
import { createCodec, EventRejected, UnknownEvent } from '../../src/events/codec.js';
import { event, type EventDefinition } from '../../src/events/defineStream.js';
import type { JsonObject } from '../../src/events/envelope.js';
import type { StoredEvent } from '../../src/events/store/eventStore.js';
import { recorded } from '../support/given.js';
import { fingerprint, readGolden } from '../support/golden.js';

const { metadata } = recorded({ type: '', data: {} });

const stored = (type: string, schemaVersion: number, data: JsonObject): StoredEvent => ({
  id: '017f22e2-79b0-83d9-bfbb-3899b9072ed8',
  type,
  schemaVersion,
  data,
  metadata,
  stream: 'some-stream',
  revision: 4n,
  position: 9n,
  recordedAt: metadata.at,
});

describe('what was ever written', () => {
  const codec = createCodec(catalogue);
  const golden = readGolden();
  const definitions = Object.entries<EventDefinition>(catalogue);
  const examples = Object.entries(golden).flatMap(([type, versions]) =>
    Object.entries(versions).flatMap(([version, { examples: all }]) =>
      all.map((example, index) => ({ ...example, type, version: Number(version), title: `${type} ${version}, ${index + 1}` })),
    ),
  );

  test.each(examples)('is read as today: $title', ({ type, version, stored: data, today = data }) => {
    const decoded = codec.decode(stored(type, version, data));
    expect(decoded.data).toStrictEqual(today);
    expect(codec.encode(decoded, decoded.id, metadata).data).toStrictEqual(today);
  });

  test.each(definitions)('%s has an example of each version and each field', (type, { schemaVersion, schema }) => {
    const versions = golden[type] ?? {};
    const expected = Array.from({ length: schemaVersion }, (_, index) => String(index + 1));
    expect(Object.keys(versions).sort()).toEqual(expected);
    expect(Object.values(versions).every(({ examples: all }) => all.length > 0)).toBe(true);
    const fieldsShown = (versions[String(schemaVersion)]?.examples ?? []).flatMap((example) => Object.keys(example.stored));
    expect(fieldsShown).toEqual(expect.arrayContaining(fieldsOf(schema)));
  });

  test.each(definitions)('%s has the schema that its version was written with', (type, { schemaVersion, schema }) => {
    const before = golden[type]?.[String(schemaVersion)]?.schema;
    if (before === fingerprint(schema)) return;
    throw new Error(
      before === undefined
        ? `Add "schema": "${fingerprint(schema)}" to version ${schemaVersion} of ${type} in test/events/catalogue.golden.json.`
        : `The schema of ${type} is no longer the one that version ${schemaVersion} was written with, and events of that version may ` +
            `stand in a log for ever. Keep what the golden file says of version ${schemaVersion}; add an upcaster that turns its data ` +
            `into the new form (the version is then ${schemaVersion + 1}), and version ${schemaVersion + 1} to ` +
            `test/events/catalogue.golden.json with an example and "schema": "${fingerprint(schema)}"; give each older example ` +
            `its new "today". Only while no log anywhere holds version ${schemaVersion} may its entry be changed instead.`,
    );
  });

  test('is never forgotten: a type that is no longer written is still read', () => {
    expect(Object.keys(catalogue).sort()).toEqual(Object.keys(golden).sort());
  });

  test('has one meaning: each type stands in one area only, and all of them in the catalogue', async () => {
    const folder = new URL('../../src/events/', import.meta.url);
    const types: string[] = [];
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.events.ts'))) {
      const exported = (await import(new URL(file, folder).href)) as Record<string, unknown>;
      types.push(...Object.values(exported).flatMap(definedTypes));
    }
    expect(types.sort()).toEqual(Object.keys(catalogue).sort());
  });
});

/** Names of the fields that an event of this schema may have. */
const fieldsOf = (schema: object): string[] => {
  if ('anyOf' in schema) return (schema.anyOf as object[]).flatMap(fieldsOf);
  return 'properties' in schema ? Object.keys(schema.properties as object) : [];
};

const definedTypes = (exported: unknown): string[] =>
  typeof exported === 'object' && exported !== null
    ? Object.entries(exported).flatMap(([type, part]: [string, unknown]) =>
        typeof part === 'object' && part !== null && 'upcasters' in part ? [type] : [],
      )
    : [];

describe('the fingerprint of a schema', () => {
  const base = { type: 'object', required: ['a', 'b'], properties: { a: { enum: ['x', 'y'] }, b: { type: 'string' } } };

  test('is the same for what is only written in another way', () => {
    const other = {
      description: 'For people',
      properties: { b: { description: 'For people', type: 'string' }, a: { enum: ['y', 'x'] } },
      required: ['b', 'a'],
      type: 'object',
    };
    expect(fingerprint(other)).toBe(fingerprint(base));
  });

  test.each([
    ['a field more', { ...base, properties: { ...base.properties, c: { type: 'string' } } }],
    ['a field less', { ...base, properties: { a: base.properties.a } }],
    ['a field that is called like a remark', { ...base, properties: { ...base.properties, description: { type: 'string' } } }],
    ['a field that may be missing', { ...base, required: ['a'] }],
    ['another type', { ...base, properties: { ...base.properties, b: { type: 'number' } } }],
    ['a value more', { ...base, properties: { ...base.properties, a: { enum: ['x', 'y', 'z'] } } }],
  ])('is another one for %s', (_, other) => {
    expect(fingerprint(other)).not.toBe(fingerprint(base));
  });
});

describe('decode', () => {
  const codec = createCodec({
    Moved: event(Type.Object({ to: Type.Array(Type.String()), steps: Type.Number() }), [
      ({ place, ...data }) => ({ ...data, to: place ?? null }),
      ({ to, ...data }) => ({ ...data, to: [to ?? 'nowhere'], steps: 1 }),
    ]),
  });

  test.each([
    [1, { place: 'Rome' }, { to: ['Rome'], steps: 1 }],
    [1, {}, { to: ['nowhere'], steps: 1 }],
    [2, { to: 'Rome' }, { to: ['Rome'], steps: 1 }],
    [3, { to: ['Rome', 'Bari'], steps: 2 }, { to: ['Rome', 'Bari'], steps: 2 }],
  ])('brings version %d up to today, one version after the other', (version, data, today) => {
    expect(codec.decode(stored('Moved', version, data)).data).toStrictEqual(today);
  });

  test('returns the place of the event and who caused it', () => {
    const { id, type, stream, revision, position, metadata: kept } = codec.decode(stored('Moved', 3, { to: [], steps: 0 }));
    expect([id, type, stream, revision, position]).toEqual([stored('Moved', 3, {}).id, 'Moved', 'some-stream', 4n, 9n]);
    expect(kept).toEqual(metadata);
  });

  test('keeps what the schema does not know', () => {
    const data = { to: ['Rome'], steps: 1, by: 'train' };
    expect(codec.decode(stored('Moved', 3, data)).data).toStrictEqual(data);
    expect(codec.decode(stored('Moved', 1, { place: 'Rome', by: 'train' })).data).toStrictEqual(data);
  });

  test('leaves what it was given as it was', () => {
    const data = Object.freeze({ place: 'Rome' });
    codec.decode(stored('Moved', 1, data));
    expect(data).toEqual({ place: 'Rome' });
  });

  test.each([
    ['a type that this build does not know', 'Flown', 1],
    ['a newer version', 'Moved', 4],
    ['no version', 'Moved', 0],
    ['half a version', 'Moved', 1.5],
    ['a version that is no number', 'Moved', NaN],
    ['a type called like what every object has', 'constructor', 1],
    ['a type called like the prototype', '__proto__', 1],
  ])('refuses %s', (_, type, version) => {
    expect(() => codec.decode(stored(type, version, {}))).toThrow(UnknownEvent);
    expect(() => codec.decode(stored(type, version, {}))).toThrow(
      `event type ${type} version ${version} is not known to this build`,
    );
  });
});

describe('encode', () => {
  const codec = createCodec({
    Told: event(
      Type.Object({
        to: Type.String(),
        at: Type.Optional(Type.String({ format: 'date-time' })),
        parts: Type.Optional(Type.Array(Type.Object({ text: Type.Enum(['a', 'b']) }))),
      }),
      [(data) => data],
    ),
    Either: event(
      Type.Union([
        Type.Object({ kind: Type.Literal('one'), one: Type.Number() }),
        Type.Object({ kind: Type.Literal('two'), two: Type.Number() }),
      ]),
    ),
  });
  const encode = (type: string, data: unknown) => codec.encode({ type, data }, 'id-1', metadata);

  test("gives the event as it is stored, with today's version of its type", () => {
    const data = { to: 'you', at: '2026-01-01T00:00:00.000Z', parts: [{ text: 'a' }] };
    expect(encode('Told', data)).toEqual({ id: 'id-1', type: 'Told', schemaVersion: 2, data, metadata });
    expect(encode('Either', { kind: 'two', two: 2 }).schemaVersion).toBe(1);
  });

  const secret = 'anna@example.com';

  test.each([
    ['a field is missing', 'Told', {}, "Told:  must have required property 'to'"],
    ['a field is of another type', 'Told', { to: [secret] }, 'Told: /to must be string'],
    ['a time is none', 'Told', { to: 'you', at: secret }, 'Told: /at must match format "date-time"'],
    [
      'a value is not one of those allowed',
      'Told',
      { to: 'you', parts: [{ text: secret }] },
      'Told: /parts/0/text must be equal',
    ],
    ['it says more than the schema', 'Told', { to: 'you', email: secret }, 'Told:  must NOT have additional properties'],
    ['a part says more', 'Told', { to: 'you', parts: [{ text: 'a', [secret]: 1 }] }, 'Told: /parts/0 must NOT have additional'],
    ['it is a mixture of two forms', 'Either', { kind: 'one', one: 1, two: 2 }, 'Either:'],
    ['it is no object', 'Told', secret, 'Told:  must be object'],
  ])('refuses data when %s, without telling what it holds', (_, type, data, words) => {
    let error: unknown;
    try {
      encode(type, data);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(EventRejected);
    expect((error as Error).message).toContain(words);
    expect(`${String((error as Error).stack)}${JSON.stringify(error)}`).not.toContain(secret);
  });

  test('refuses a type that the catalogue does not have', () => {
    expect(() => encode('Whispered', {})).toThrow(UnknownEvent);
    expect(() => encode('toString', {})).toThrow(UnknownEvent);
  });
});
