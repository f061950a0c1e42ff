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
  ajv.addSchema({ $id: 'document', components: document.components });
});

const problemsOf = (schema: object, value: unknown): string => {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
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
      const problems = problemsOf(json.schema, answer.body);
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
          expect(`${operationId} ${status}: ${problemsOf(schema, example)}`).toBe(`${operationId} ${status}: `);
        }
      }
    }
  }
});
