import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Takes the operations that this service uses out of GitHub's official description of its API, for
 * the tests: `node scripts/githubOpenApi.mjs` writes `test/fixtures/githubOpenApi.json` anew. The
 * package is far too large to be installed, so it is packed into a temporary folder and one file is
 * taken out of it.
 */
const version = '23.0.2';
const source = 'package/generated/api.github.com.json';
const fixture = new URL('../test/fixtures/githubOpenApi.json', import.meta.url);

const used = {
  '/repos/{owner}/{repo}': ['get', 'delete'],
  '/repos/{template_owner}/{template_repo}/generate': ['post'],
  '/repos/{owner}/{repo}/commits': ['get'],
  '/repos/{owner}/{repo}/collaborators': ['get'],
  '/repos/{owner}/{repo}/collaborators/{username}': ['put'],
  '/repos/{owner}/{repo}/invitations': ['get'],
  '/repos/{owner}/{repo}/contents/{path}': ['get'],
  '/repos/{owner}/{repo}/git/ref/{ref}': ['get'],
  '/repos/{owner}/{repo}/git/blobs': ['post'],
  '/repos/{owner}/{repo}/git/blobs/{file_sha}': ['get'],
  '/repos/{owner}/{repo}/git/trees': ['post'],
  '/repos/{owner}/{repo}/git/trees/{tree_sha}': ['get'],
  '/repos/{owner}/{repo}/git/commits': ['post'],
  '/repos/{owner}/{repo}/git/commits/{commit_sha}': ['get'],
  '/repos/{owner}/{repo}/git/refs/{ref}': ['patch'],
};

/** @typedef {{ [key: string]: unknown }} Json */

const folder = mkdtempSync(join(tmpdir(), 'doorstep-github-'));
try {
  const [{ filename }] = /** @type {[{ filename: string }]} */ (
    JSON.parse(
      execFileSync('npm', ['pack', '--json', '--silent', `@octokit/openapi@${version}`], { cwd: folder, encoding: 'utf8' }),
    )
  );
  const archive = join(folder, filename.replace('@', '').replace('/', '-'));
  execFileSync('tar', ['xzf', archive, '-C', folder, source]);
  const description = /** @type {Json} */ (JSON.parse(readFileSync(join(folder, source), 'utf8')));
  writeFileSync(fixture, `${JSON.stringify(excerpt(description))}\n`);
} finally {
  rmSync(folder, { recursive: true });
}

/**
 * The operations in `used` and whatever they refer to.
 * @param {Json} description
 */
function excerpt(description) {
  const all = /** @type {{ [path: string]: Json }} */ (description.paths);
  const paths = Object.fromEntries(
    Object.entries(used).map(([path, methods]) => [
      path,
      Object.fromEntries(methods.map((method) => [method, formOf(all[path]?.[method])])),
    ]),
  );
  /** @type {Json} */
  const components = {};
  const open = referencesIn(paths);
  for (const reference of open) {
    const [, , kind = '', name = ''] = reference.split('/');
    const parts = /** @type {Json} */ (components[kind] ??= {});
    if (name in parts) continue;
    const everything = /** @type {{ [kind: string]: Json }} */ (description.components);
    parts[name] = formOf(everything[kind]?.[name]);
    open.push(...referencesIn(parts[name]));
  }
  const { title, license } = /** @type {Json} */ (description.info);
  return {
    notice:
      `Excerpt of GitHub's REST API description as in the npm package @octokit/openapi ${version}, without texts and examples. ` +
      'The description is licensed under the MIT licence, Copyright (c) GitHub; the package likewise, Copyright (c) Octokit contributors.',
    openapi: description.openapi,
    info: { title, license, version },
    paths,
    components,
  };
}

/**
 * What binds, without what explains.
 * @param {unknown} value
 * @param {boolean} [areNames] - the keys of `value` are names of fields, not keywords
 * @returns {unknown}
 */
function formOf(value, areNames = false) {
  if (Array.isArray(value)) return value.map((entry) => formOf(entry));
  if (typeof value !== 'object' || value === null) return value;
  const explaining = ['description', 'summary', 'example', 'examples', 'externalDocs', 'title', 'tags', 'x-github'];
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => areNames || !explaining.includes(key))
      .map(([key, entry]) => [key, formOf(entry, !areNames && key === 'properties')]),
  );
}

/**
 * @param {unknown} value
 * @returns {string[]}
 */
function referencesIn(value) {
  return [...JSON.stringify(value).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference);
}
