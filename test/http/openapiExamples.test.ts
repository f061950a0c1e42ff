import { beforeAll, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { startEverybody, type Everybody } from '../support/everybody.js';
import { sendExamples, type ApiDocument } from '../support/examples.js';

let everybody: Everybody;
let document: ApiDocument;
const ajv = addFormats.default(new Ajv2020({ strict: false }), { mode: 'full' });

beforeAll(async () => {
  everybody = await startEverybody();
  document = (await everybody.api.call('GET', '/openapi.json')).body as ApiDocument;
  ajv.addSchema({ $id: 'open', components: document.components });
  ajv.addSchema({ $id: 'closed', components: closed(document.components) });
});

/** A field that the document does not name is a problem too: nothing is shown unless somebody says so. */
const closed = (schema: object): object =>
  JSON.parse(
    JSON.stringify(schema, (_key, value: unknown) =>
      isObjectSchema(value) ? { ...value, additionalProperties: value.additionalProperties ?? false } : value,
    ),
  ) as object;

const isObjectSchema = (value: unknown): value is { readonly additionalProperties?: unknown } =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'object' && 'properties' in value;

/** The form of the document itself is another specification's, which ours names the beginning of. */
const isOpen = (operationId: string): boolean => operationId === 'getOpenApi';

const problemsOf = (operationId: string, schema: object, value: unknown): string => {
  const [named, id] = isOpen(operationId) ? [schema, 'open'] : [closed(schema), 'closed'];
  const text = JSON.stringify(named).replaceAll('"#/components/', `"${id}#/components/`);
  const validate = ajv.compile(JSON.parse(text) as object);
  return validate(value) ? '' : ajv.errorsText(validate.errors);
};

test('every example works when it is sent, and is answered as the document says', async () => {
  const wrong: string[] = [];
  for await (const { operation, method, target, answer } of sendExamples(everybody, document)) {
    const { operationId, responses } = operation;
    const described = responses[String(answer.status)];
    const said = `${operationId}: ${method} ${target} answered ${String(answer.status)} ${answer.text.slice(0, 300)}`;
    if (answer.status >= 400 || described === undefined) {
      wrong.push(said);
      continue;
    }
    const json = described.content?.['application/json'];
    if (json !== undefined) {
      const problems = problemsOf(operationId, json.schema, answer.body);
      if (problems !== '') wrong.push(`${said}: ${problems}`);
    }
  }
  expect(wrong).toStrictEqual([]);
});

test('every example of an answer fits its schema', () => {
  for (const methods of Object.values(document.paths)) {
    for (const { operationId, responses } of Object.values(methods)) {
      for (const [status, { content = {} }] of Object.entries(responses)) {
        for (const { schema, example } of Object.values(content)) {
          if (example === undefined) continue;
          expect(`${operationId} ${status}: ${problemsOf(operationId, schema, example)}`).toBe(`${operationId} ${status}: `);
        }
      }
    }
  }
});
