/** The methods of the SDK, the commands of the CLI and the tools of the MCP server, as they are built. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './processes.mjs';
import { readSdkSources } from './sdkModel.mjs';
import { openApiDocument, sdkMethodsFile } from './tasks.mjs';

/** @typedef {import('./programDocs.mjs').Program} Program */

/** @param {string} file @returns {Promise<unknown>} */
const built = (file) => import(pathToFileURL(join(root, file)).href);

/** @param {string} file */
const reasonsIn = (file) => {
  /** @type {Record<string, string>} */
  const reasons = JSON.parse(readFileSync(join(root, file), 'utf8'));
  return reasons;
};

/** Needs the built `cli`. @returns {Promise<import('./programDocs.mjs').Programs>} */
export const readPrograms = async () => {
  const { commands } = /** @type {{ commands: Program[] }} */ (await built('cli/dist/registry.js'));
  const { tools } = /** @type {{ tools: Program[] }} */ (await built('mcp/dist/index.js'));
  return {
    ...readSdkSources(openApiDocument, sdkMethodsFile),
    commands,
    withoutCommand: reasonsIn('cli/without.json'),
    tools,
    withoutTool: reasonsIn('mcp/without.json'),
  };
};
