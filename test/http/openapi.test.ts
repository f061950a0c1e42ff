import { beforeAll, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { createOpenApi } from '../../src/http/openapi.js';
import { startApi, type RunningApi } from '../support/http.js';
import { gapsIn } from '../support/openApiGaps.js';
import { probe } from '../support/probeRoutes.js';

type Json = Readonly<Record<string, unknown>>;

let api: RunningApi;
let document: Json;

beforeAll(async () => {
  api = await startApi();
  document = (await api.call('GET', '/openapi.json')).body as Json;
});

test('whatever programs are made from is there: names, types, descriptions, examples', () => {
  expect(gapsIn(document)).toStrictEqual([]);
});

test('what is missing is named, with what to do', () => {
  const schema = Type.Object({ colour: Type.Enum(['red', 'green']), shade: Type.Enum(['red', 'green']), odd: Type.String() });
  const answers = { 200: { description: 'It.', schema } };
  const bare = createOpenApi([probe({ path: '/bare', operationId: 'getBare', answers })], {
    baseUrl: 'http://localhost',
    version: '1',
  });
  expect(gapsIn(bare)).toEqual(
    expect.arrayContaining([
      'getBare: give the route a `description` that says more than its summary',
      expect.stringMatching(/^getBare, 200 as application\/json: give `examples` to the texts in its schema/),
      'GetBareResponse: the property odd needs a description',
      expect.stringMatching(/^\{"enum":\["red","green"\]\} is there 2 times: give an object an `\$id`/),
    ]),
  );
});

test('enums, forms of text and resources have names', () => {
  const { schemas } = document.components as { schemas: Readonly<Record<string, Json>> };
  expect(schemas).toMatchObject({
    Role: { type: 'string', enum: ['viewer', 'editor'] },
    CheckpointStatus: { type: 'string', enum: ['pending', 'in_progress', 'done'] },
    WebsiteStatus: { type: 'string', enum: ['provisioning', 'active'] },
    Checkpoint: { type: 'object' },
    CheckpointInput: { type: 'object', additionalProperties: false },
    ReplaceDeliveryRequest: { type: 'object', additionalProperties: false },
    Timestamp: { type: 'string', format: 'date-time' },
    Error: { required: ['error', 'code', 'details'] },
    Violation: { required: ['field', 'issue'] },
  });
});

test('errors are shared, and each operation names the codes that it gives', () => {
  const { paths, components } = document as {
    paths: Readonly<
      Record<string, Readonly<Record<string, { responses: Readonly<Record<string, Json>>; 'x-error-codes': Json }>>>
    >;
    components: { responses: Json };
  };
  const read = paths['/websites/{id}']?.get;
  expect(read?.responses).toMatchObject({ 404: { $ref: '#/components/responses/NotFound' } });
  expect(read?.['x-error-codes']).toMatchObject({
    403: ['admin_required', 'not_authorized_for_website'],
    404: ['website_not_found'],
  });
  // It asks no provider, and takes no body.
  for (const status of ['408', '413', '502', '504']) expect(Object.keys(read?.responses ?? {})).not.toContain(status);
  expect(Object.keys(paths['/websites/{id}/commits']?.get?.responses ?? {})).toEqual(expect.arrayContaining(['502', '504']));
  expect(Object.keys(components.responses)).toEqual(
    expect.arrayContaining(['BadRequest', 'Unauthorized', 'Forbidden', 'NotFound']),
  );
});

test('each operation says who may call it', () => {
  const { paths } = document as {
    paths: Readonly<Record<string, Readonly<Record<string, { description: string; 'x-access': Json }>>>>;
  };
  const scan = paths['/websites/{id}/seo']?.get;
  expect(scan?.['x-access']).toStrictEqual({ rule: 'members', callers: ['admin', 'owner', 'editor', 'viewer'], feature: 'seo' });
  expect(scan?.description).toContain(
    "**Who may call:** Admins, the website's owner, its linked editors and viewers. The website must have the `seo` feature.",
  );
});

test('says at what pace to call, and what to do before a write is repeated', () => {
  const { description } = document.info as { description: string };
  expect(description).toContain('about 10 requests a second for each token');
  expect(description).toContain('exponential backoff');
  expect(description).toMatch(/Before you repeat a write .* look whether it took\s+effect/s);
});

test('only ids that the service makes are said to be opaque and to sort by time', () => {
  const { schemas } = document.components as { schemas: Readonly<Record<string, Json>> };
  const named = Object.entries(schemas).filter(([, schema]) => JSON.stringify(schema).includes('"Opaque; sorts by time."'));
  expect(named.map(([name]) => name)).toStrictEqual([
    'APIKey',
    'Client',
    'ClientExport',
    'Document',
    'Invitation',
    'Media',
    'MintedAPIKey',
    'OutboxMail',
    'ProvisioningJob',
    'SeoScan',
    'Service',
    'Website',
  ]);
});

test('a field of one name and several meanings says which it has', () => {
  const { schemas } = document.components as { schemas: Readonly<Record<string, { properties: Record<string, Json> }>> };
  const said = (name: string, property: string) => schemas[name]?.properties[property]?.description;
  expect(said('Checkpoint', 'id')).toBe('Unique within the delivery block.');
  expect(said('OutboxMail', 'to')).toBe('Whom it is to.');
  expect(said('OutboxMail', 'subject')).toBe('What it is about.');
  expect(said('AddClientRequest', 'email')).toBe('E-mail address of the person.');
  expect(said('Invitation', 'email')).toBe('E-mail address of the person, or `[erased]`.');
});
