/** What the SDK knows of the service, made from the OpenAPI document: types, and a method for each operation. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { readSdkSources, sdkMethods } from './sdkModel.mjs';
import { modelsSource, resourcesSource } from './sdkResources.mjs';

/**
 * @param {string} document - the file of the OpenAPI document
 * @param {string} methods - the file that names the method of each operation
 * @param {string} folder - gets `schema.ts`, `models.ts` and `resources.ts`
 */
export const makeSdkTypes = async (document, methods, folder) => {
  const { document: openApi, entries } = readSdkSources(document, methods);
  const described = sdkMethods(openApi, entries);
  writeFileSync(
    join(folder, 'schema.ts'),
    astToString(await openapiTS(/** @type {import('openapi-typescript').OpenAPI3} */ (/** @type {unknown} */ (openApi)))),
  );
  writeFileSync(join(folder, 'models.ts'), modelsSource(openApi, described));
  writeFileSync(join(folder, 'resources.ts'), await resourcesSource(described));
};
