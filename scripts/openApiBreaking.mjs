/**
 * `npm run openapi:breaking`: compares the OpenAPI document with the one of the last release
 * (`sdk/openapi.baseline.json`), and refuses a breaking change that the changelog does not name: the
 * operation's id, in backticks, in its topmost section. `-- --renew` makes the document of today the
 * baseline, at a release. Other files are compared with `-- <baseline> <document> <changelog>`.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { prepareOrExit } from './prepare.mjs';
import { report, root } from './processes.mjs';
import { openApiDocument } from './tasks.mjs';

const oasdiff = join(root, '.servers', 'oasdiff', 'oasdiff');

/** What callers do not depend on. */
const words = new Set(['description', 'summary', 'example', 'examples', 'title', 'contact', 'x-error-codes', 'x-access', 'tags']);

/**
 * The document without its words, the fields in order: what the baseline keeps.
 * @param {unknown} value
 * @param {boolean} areNames - the keys are names that the API has, not words of OpenAPI
 * @returns {unknown}
 */
const trimmed = (value, areNames = false) => {
  if (Array.isArray(value)) return value.map((item) => trimmed(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => (areNames ? !isErrorStatus(key) : !words.has(key)))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, trimmed(inner, !areNames && maps.has(key))]),
  );
};

/** Errors are the same for all operations, and `docs/errors.md` lists them. @param {string} key */
const isErrorStatus = (key) => /^[345]\d\d$/.test(key);

/** Their keys are names. */
const maps = new Set(['properties', 'paths', 'schemas', 'parameters', 'headers', 'responses', 'securitySchemes', 'content']);

/** @typedef {{ info: { title: string, version: string }, components: Record<string, unknown> }} OpenApi */

/** @param {string} file */
const trimmedText = (file) => {
  const { info, components, ...document } = /** @type {OpenApi} */ (JSON.parse(readFileSync(file, 'utf8')));
  const { responses: _, ...used } = components;
  return JSON.stringify(trimmed({ ...document, components: used, info: { title: info.title, version: info.version } }));
};

/**
 * @typedef {{ id: string, text: string, level: number, operation: string, operationId?: string, path: string }} Change
 */

/**
 * What oasdiff calls an error or a warning, and what callers may have read. A new value of an enum
 * in an answer is none: callers expect values that they do not know.
 * @param {Change} change
 */
const isBreaking = ({ id, level }) =>
  (level >= 2 && !/^response-.*enum-value-added$/.test(id)) || id === 'response-optional-property-removed';

/** @param {string} baseline @param {string} document @returns {Promise<Change[]>} */
const changesBetween = async (baseline, document) => {
  const folder = mkdtempSync(join(tmpdir(), 'doorstep-openapi-'));
  try {
    const files = [baseline, document].map((file, index) => {
      const copy = join(folder, `${index}.json`);
      writeFileSync(copy, trimmedText(file));
      return copy;
    });
    const { stdout } = await promisify(execFile)(oasdiff, ['changelog', '--format', 'json', ...files], { maxBuffer: 64 << 20 });
    return /** @type {Change[] | null} */ (JSON.parse(stdout || '[]')) ?? [];
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** The topmost section of a changelog. @param {string} text */
const newest = (text) => text.split(/^## /m)[1] ?? '';

/** @param {string} baseline @param {string} document @param {string} changelog */
const check = async (baseline, document, changelog) => {
  const section = newest(readFileSync(changelog, 'utf8'));
  const breaking = (await changesBetween(baseline, document)).filter(isBreaking);
  const unnamed = breaking.filter(({ operationId }) => operationId === undefined || !section.includes(`\`${operationId}\``));
  report(`${breaking.length} breaking changes since the baseline, ${unnamed.length} of them not named in the changelog`);
  for (const { operation, path, operationId, text } of unnamed)
    report(`${operation} ${path} (${operationId ?? 'no operation'}): ${text}`);
  if (unnamed.length > 0) process.exitCode = 1;
};

const baselineFile = join(root, 'sdk', 'openapi.baseline.json');
const args = process.argv.slice(2);
await prepareOrExit('openapi');
if (args[0] === '--renew') {
  writeFileSync(
    baselineFile,
    await format(trimmedText(openApiDocument), { ...(await resolveConfig(baselineFile)), parser: 'json' }),
  );
  report('sdk/openapi.baseline.json is the document of today');
} else if (!existsSync(oasdiff) && process.env.CI === undefined) {
  report('not compared: oasdiff is not installed (test/support/oasdiff/install)');
} else {
  const [baseline = baselineFile, document = openApiDocument, changelog = join(root, 'CHANGELOG.md')] = args;
  await check(baseline, document, changelog);
}
