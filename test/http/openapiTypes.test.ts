import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, jest, test } from '@jest/globals';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import { startApi } from '../support/http.js';
import { temporaryFolder } from '../support/temporary.js';

// A compiler is slow on a busy machine.
jest.setTimeout(120_000);

const client = fileURLToPath(new URL('../../node_modules/openapi-fetch/dist/index.d.mts', import.meta.url));
let types: string;

beforeAll(async () => {
  const api = await startApi({ projector: false });
  const document = (await api.call('GET', '/openapi.json')).body as OpenAPI3;
  types = astToString(await openapiTS(document));
});

/** Each line after such a comment has to be refused. */
const mistakes = `
export const mistakes = async (): Promise<void> => {
  const params = { path: { id: 'website' } };
  const { data } = await client.PUT('/websites/{id}/delivery', { params, body: {} });
  // @ts-expect-error -- a field that the answer has not
  data?.revison;
  const status = { path: { id: 'website', checkpointId: 'qa' } };
  // @ts-expect-error -- a value that the enum has not
  await client.PUT('/websites/{id}/delivery/checkpoints/{checkpointId}', { params: status, body: { status: 'finished' } });
  // @ts-expect-error -- a code that no error has
  (await client.GET('/websites/{id}', { params })).error?.code === 'website_lost';
  // @ts-expect-error -- a body without what is required
  await client.POST('/websites', { body: { name: 'A' } });
};
`;

/** What the compiler says of a program that uses the types made from the document. */
const problemsOf = (program: string): readonly string[] => {
  const folder = mkdtempSync(join(temporaryFolder(), 'types-'));
  writeFileSync(join(folder, 'schema.ts'), types);
  const file = join(folder, 'program.ts');
  const head = `import createClient from 'openapi-fetch';
import type { components, paths } from './schema';
const client = createClient<paths, 'application/json'>({ baseUrl: 'http://localhost/v1' });
type Schemas = components['schemas'];
`;
  writeFileSync(file, head + program);
  const compiled = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    paths: { 'openapi-fetch': [client] },
  });
  return ts.getPreEmitDiagnostics(compiled).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
};

test('a program made of the document compiles, but not its mistakes', () => {
  const program = `
const path = { id: 'website' };
const body: Schemas['ReplaceDeliveryRequest'] = { showPreviewUrl: true, estimatedCompletionAt: '2030-02-28T12:00:00.000Z' };
export const replace = async (): Promise<number> => {
  const { data: put, error } = await client.PUT('/websites/{id}/delivery', { params: { path }, body });
  if (error !== undefined) throw new Error(error.code === 'stale' ? 'look again' : error.error);
  const first: Schemas['CheckpointStatus'] | undefined = put.checkpoints[0]?.status;
  if (first === 'in_progress') return -1;
  return put.revision;
};
export const give = async (role: Schemas['Role']): Promise<string> => {
  const { data, error } = await client.POST('/websites/{id}/clients', { params: { path }, body: { email: 'ada@example.com', role } });
  if (data === undefined) return error.code;
  return data.kind === 'linked' ? data.link.clientId : data.invitation.id;
};
export const tierOf = async (): Promise<Schemas['Tier'] | undefined> =>
  (await client.GET('/websites/{id}', { params: { path } })).data?.tier;
`;
  expect(problemsOf(program + mistakes)).toStrictEqual([]);
});
