import { expect, test } from '@jest/globals';
import { catalogue } from '../../src/events/catalogue.js';
import { personalFields } from '../../src/events/catalogue.js';
import { readGolden } from '../support/golden.js';

const golden = readGolden();
const personal = Object.entries(personalFields).flatMap(([type, fields]) => fields.map((field) => [type, field] as const));

test.each(personal)('%s.%s is encrypted in the golden file', (type, field) => {
  const examples = Object.values(golden[type] ?? {}).flatMap((version) => version.examples);
  expect(examples.map(({ stored }) => stored[field])).toContainEqual(expect.stringMatching(/^encrypted:[0-9a-z]{26}:[\w-]+$/));
});

test('no event has another field whose name suggests personal data', () => {
  const named = Object.entries(catalogue).flatMap(([type, { schema }]) =>
    [...JSON.stringify(schema).matchAll(/"(\w*(?:email|subject|userName|address)\w*)":\{/gi)].map(([, field]) => [type, field]),
  );
  expect(named).not.toEqual([]);
  for (const [type = '', field] of named) expect([type, personalFields[type]]).toEqual([type, expect.arrayContaining([field])]);
});
