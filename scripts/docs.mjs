/**
 * `npm run docs`: writes the pages of `docs/` and `sdk/docs/` that are made from the code. `npm run docs:check`
 * writes nothing; it exits with 1 when one of them is not what the code says.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { errorPage } from './errorDocs.mjs';
import { readEventComments } from './eventComments.mjs';
import { eventPage, streamTable } from './eventDocs.mjs';
import { prepareOrExit } from './prepare.mjs';
import { report, root } from './processes.mjs';
import { programsPage } from './programDocs.mjs';
import { readPrograms } from './programs.mjs';
import { sdkPages } from './sdkDocs.mjs';
import { distFolder, openApiDocument } from './tasks.mjs';

const docs = join(root, 'docs');
const sdkDocs = join(root, 'sdk', 'docs');

/** @param {string} file */
const fromService = (file) => import(pathToFileURL(join(distFolder, file)).href);

/**
 * Replaces what stands between the comments `<!-- name:begin -->` and `<!-- name:end -->`.
 * @param {string} page
 * @param {string} name
 * @param {string} content
 */
const withSection = (page, name, content) => {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page lacks ${begin} … ${end}`);
  return `${page.slice(0, from)}${begin}\n\n${content}\n\n${page.slice(to)}`;
};

/** Every page with its text, as prettier writes it. */
const generate = async () => {
  /** @type {typeof import('../src/events/catalogue.js')} */
  const { streams } = await fromService('events/catalogue.js');
  /** @type {import('./errorDocs.mjs').ErrorSources} */
  const sources = {
    ...(await fromService('commands/refusal.js')),
    ...(await fromService('http/errors.js')),
    ...(await fromService('http/faults.js')),
    ...(await fromService('integrations/fault.js')),
  };
  /** @type {import('./errorDocs.mjs').ApiDocument} */
  const api = JSON.parse(readFileSync(openApiDocument, 'utf8'));
  const programs = await readPrograms();
  const ofSdk = await sdkPages(programs.document, programs.entries);
  const architecture = join(docs, 'architecture.md');
  const pages = {
    [architecture]: withSection(readFileSync(architecture, 'utf8'), 'streams', streamTable(streams)),
    [join(docs, 'events.md')]: eventPage(streams, readEventComments(join(root, 'src', 'events'))),
    [join(docs, 'errors.md')]: errorPage(sources, api),
    [join(docs, 'programs.md')]: programsPage(programs),
    ...Object.fromEntries(Object.entries(ofSdk).map(([name, page]) => [join(sdkDocs, name), page])),
  };
  return Promise.all(
    Object.entries(pages).map(async ([file, text]) => ({
      file,
      text: await format(text, { ...(await resolveConfig(file)), parser: 'markdown' }),
    })),
  );
};

/** @param {string} file */
const textOf = (file) => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/** Pages of the SDK that nothing makes any more. @param {readonly string[]} made */
const leftOver = (made) =>
  readdirSync(sdkDocs)
    .map((name) => join(sdkDocs, name))
    .filter((file) => !made.includes(file));

await prepareOrExit('cli');
mkdirSync(sdkDocs, { recursive: true });
const pages = await generate();
const stale = pages.filter(({ file, text }) => textOf(file) !== text);
const old = leftOver(pages.map(({ file }) => file));
const isCheck = process.argv.includes('--check');
for (const { file, text } of stale) {
  if (!isCheck) writeFileSync(file, text);
  report(`${relative(root, file)} ${isCheck ? 'is not what the code says: run `npm run docs` and commit it' : 'written'}`);
}
for (const file of old) {
  if (!isCheck) rmSync(file);
  report(`${relative(root, file)} ${isCheck ? 'is made from nothing any more: run `npm run docs` and commit that' : 'removed'}`);
}
if (isCheck && stale.length + old.length > 0) process.exitCode = 1;
