/** What the SDK knows of the service, made from the OpenAPI document: types, and a method for each operation. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';

/**
 * @param {string} document - the file of the OpenAPI document
 * @param {string} folder - gets `schema.ts`
 */
export const makeSdkTypes = async (document, folder) => {
  const openApi = /** @type {import('openapi-typescript').OpenAPI3} */ (JSON.parse(readFileSync(document, 'utf8')));
  writeFileSync(join(folder, 'schema.ts'), astToString(await openapiTS(openApi)));
};
