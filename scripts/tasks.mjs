/**
 * The tasks of the build: what each is made from, which tasks it needs, and where its output goes.
 */
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { makeCodeCaches } from './codeCaches.mjs';
import { makeMails } from './mails.mjs';
import { root, run, StepFailed } from './processes.mjs';

/** @typedef {import('./graph.mjs').Task} Task */

// A change of the lock file may be one of the compiler, or of a package that is bundled.
const always = [
  'scripts/tasks.mjs',
  'scripts/mails.mjs',
  'scripts/codeCaches.mjs',
  'scripts/fillCodeCaches.mjs',
  'package-lock.json',
];

/** @type {Task} */
const service = {
  name: 'service',
  inputs: [...always, 'src', 'tsconfig.json'],
  needs: [],
  output: 'dist',
  run: async (folder) => {
    await transpile('src', folder);
    if (!existsSync(join(folder, 'main.js'))) return;
    await bundleServer(folder);
    await makeMails(join(folder, 'mails'));
    await makeCodeCaches(folder);
  },
};

/** The OpenAPI document, as the service serves it on its default address. @type {Task} */
const openApi = {
  name: 'openapi',
  // The document names the version in package.json.
  inputs: [...always, 'package.json'],
  needs: [service],
  output: 'build/openapi',
  run: async (folder) => {
    const document = openSync(join(folder, 'openapi.json'), 'w');
    try {
      await runNode([join(root, service.output, 'operations', 'printOpenApi.js')], document);
    } finally {
      closeSync(document);
    }
  },
};

/** What the SDK knows of the service: the types of the document, and its methods. @type {Task} */
const sdkTypes = {
  name: 'sdkTypes',
  inputs: [...always, 'scripts/sdkTypes.mjs', 'scripts/sdkModel.mjs', 'scripts/sdkResources.mjs', 'sdk/methods.json'],
  needs: [openApi],
  output: 'sdk/src/generated',
  run: async (folder) => {
    const { makeSdkTypes } = await import('./sdkTypes.mjs');
    await makeSdkTypes(openApiDocument, sdkMethodsFile, folder);
  },
};

/** @type {Task} */
const sdk = {
  name: 'sdk',
  inputs: [...always, 'tsconfig.json', 'sdk/tsconfig.json', 'sdk/tsconfig.build.json', 'sdk/package.json', 'sdk/src'],
  needs: [sdkTypes],
  output: 'sdk/dist',
  run: async (folder) => {
    await compile('sdk/tsconfig.build.json', folder);
  },
};

/** @type {Task} */
const mcp = {
  name: 'mcp',
  inputs: [...always, 'tsconfig.json', 'mcp/tsconfig.json', 'mcp/package.json', 'mcp/src', 'sdk/package.json', 'sdk/src'],
  needs: [sdkTypes],
  output: 'mcp/dist',
  run: (folder) => bundleProgram('mcp', ['index.ts', 'doorstep-mcp.ts'], folder),
};

/** For programs of others that import it. @type {Task} */
const mcpTypes = {
  name: 'mcpTypes',
  inputs: [...always, 'tsconfig.json', 'mcp/tsconfig.json', 'mcp/tsconfig.build.json', 'mcp/package.json', 'mcp/src'],
  needs: [sdk],
  output: 'mcp/types',
  run: (folder) => compile('mcp/tsconfig.build.json', folder, '--emitDeclarationOnly'),
};

/** @type {Task} */
const cli = {
  name: 'cli',
  inputs: [
    ...always,
    'tsconfig.json',
    'cli/tsconfig.json',
    'cli/package.json',
    'cli/src',
    'mcp/src',
    'sdk/package.json',
    'sdk/src',
  ],
  needs: [mcp],
  needsDevelopment: true,
  output: 'cli/dist',
  run: async (folder) => {
    await bundleProgram('cli', ['doorstep.ts', 'registry.ts', 'keyringProgram.ts'], folder);
    await writeManPages(folder);
  },
};

/** @type {Task} */
const portal = {
  name: 'portal',
  inputs: [
    ...always,
    'scripts/portal/build.mjs',
    'tsconfig.json',
    'portal/tsconfig.json',
    'portal/vite.config.js',
    'portal/src',
    'sdk/package.json',
    'sdk/src',
  ],
  needs: [sdkTypes],
  output: 'portal/dist',
  run: async (folder) => {
    const { makePortal } = await import('./portal/build.mjs');
    await makePortal(folder);
  },
};

export const tasks = [service, openApi, sdkTypes, sdk, mcp, mcpTypes, cli, portal];

/** Packages in the older module form ask for Node's own modules by `require`. */
const requireForBundles =
  "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);";

export const distFolder = join(root, service.output);

/** The method of the SDK for each operation, or why there is none. */
export const sdkMethodsFile = join(root, 'sdk', 'methods.json');

export const openApiDocument = join(root, openApi.output, 'openapi.json');

/**
 * @param {readonly string[]} args
 * @param {number} output - the file descriptor that is the program's standard output
 */
const runNode = async (args, output = 2) => {
  if ((await run(process.execPath, args, { stdio: ['ignore', output, 2] })) !== 0) throw new StepFailed('the build failed');
};

/** @param {string} project @param {string} folder @param {readonly string[]} options */
const compile = async (project, folder, ...options) => {
  const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
  await runNode([tsc, '-p', project, '--outDir', folder, ...options]);
};

/**
 * Runs esbuild, which writes itself what is wrong, and ends the process that it leaves behind.
 * @param {import('esbuild').BuildOptions} options
 */
const esbuild = async (options) => {
  const { build, stop } = await import('esbuild');
  try {
    await build({ platform: 'node', format: 'esm', target: 'node20', logLevel: 'warning', ...options });
  } catch {
    throw new StepFailed('the build failed');
  } finally {
    await stop();
  }
};

/**
 * Takes the types out of every source, unchecked: `npm run typecheck` checks them, in twenty times
 * the time, and nobody who starts the service waits for it.
 * @param {string} sources - a folder
 * @param {string} folder
 */
const transpile = (sources, folder) =>
  esbuild({ entryPoints: [join(root, sources, '**', '*.ts')], outbase: join(root, sources), outdir: folder, sourcemap: true });

/**
 * Bundles a program with all that it uses: it installs without other packages, and starts by reading
 * a few files.
 * @param {string} workspace
 * @param {readonly string[]} entries - below its `src`
 * @param {string} folder
 */
const bundleProgram = async (workspace, entries, folder) => {
  await esbuild({
    entryPoints: entries.map((entry) => join(root, workspace, 'src', entry)),
    outdir: folder,
    splitting: true,
    chunkNames: 'part-[hash]',
    bundle: true,
    minifySyntax: true,
    // Native: installed where its platform has it.
    external: ['@napi-rs/keyring'],
    // From their sources: a bundle within a bundle would declare the names of the banner twice.
    alias: { '@doorstep/mcp': join(root, 'mcp', 'src', 'index.ts'), '@doorstep/sdk': join(root, 'sdk', 'src', 'index.ts') },
    define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' },
    banner: { js: requireForBundles },
  });
};

/**
 * Writes the CLI's pages for `man`, from the commands in its bundle.
 * @param {string} folder - the bundle's
 */
const writeManPages = async (folder) => {
  const { commands, manPages } = /** @type {typeof import('../cli/src/registry.js')} */ (
    await import(pathToFileURL(join(folder, 'registry.js')).href)
  );
  const { version } = /** @type {{ version: string }} */ (JSON.parse(await readFile(join(root, 'cli', 'package.json'), 'utf8')));
  await mkdir(join(folder, 'man'), { recursive: true });
  for (const [file, text] of manPages(commands, version)) await writeFile(join(folder, 'man', file), text);
};

/** What is started of the server. */
const serverPrograms = ['main', 'projectorThread'];

/**
 * A program of the server as a script, for the code cache, and as a module, for source maps. Dynamic imports are those of
 * whoever runs the script, under a name as long as the keyword, so that source maps stay right.
 */
const asScript = {
  before:
    "(run=>typeof module==='object'?run(require,__filename,name=>import(name)):run)((require,__filename,Import)=>{" +
    "const importMetaUrl=require('node:url').pathToFileURL(__filename).href;",
  after: '})',
};

/**
 * Makes one file of each program of the server and the packages that it always needs: read as some thousand files they
 * are most of a cold start. What is imported on first use is evaluated then. Packages that only such parts need stay
 * outside, so that their text takes no memory before, and so do those that look for files of their own.
 * @param {string} folder - the compiled sources
 */
const bundleServer = async (folder) => {
  await esbuild({
    entryPoints: serverPrograms.map((program) => join(folder, `${program}.js`)),
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    bundle: true,
    sourcemap: true,
    // The text of a program stays in memory as long as the process does.
    minifyWhitespace: true,
    lineLimit: 120,
    external: [
      '@photostructure/sqlite',
      'isomorphic-git',
      'liquidjs',
      'nodemailer',
      '@eventstore/db-client',
      'mongodb',
      '@aws-sdk/client-s3',
      '@aws-sdk/s3-request-presigner',
      'node-cron',
      'oidc-provider',
      '@octokit/rest',
      '@octokit/plugin-throttling',
      'stripe',
      'openai',
      'cheerio',
      'robots-parser',
      'fast-xml-parser',
      'sharp',
    ],
    define: { 'import.meta.url': 'importMetaUrl' },
    banner: { js: asScript.before },
    footer: { js: asScript.after },
  });
  for (const program of serverPrograms) {
    const file = join(folder, `${program}.cjs`);
    const text = (await readFile(file, 'utf8')).slice(asScript.before.length);
    await writeFile(file, asScript.before + withoutImports(inLatin1(text)));
    await esbuild({
      stdin: {
        contents: `import { runProgram } from './platform/codeCache.js';
          import { fileURLToPath } from 'node:url';
          export const script = runProgram(fileURLToPath(new URL('${program}.cjs', import.meta.url)));`,
        resolveDir: folder,
      },
      outfile: join(folder, `${program}.js`),
      allowOverwrite: true,
      bundle: true,
    });
  }
};

/**
 * One character beyond Latin-1 would double the memory of the whole text. esbuild leaves them in tagged templates and
 * regular expressions, in which an escape means the same.
 * @param {string} text
 */
const inLatin1 = (text) => text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** @param {string} text */
const withoutImports = (text) => text.replaceAll(/\bimport\(/g, 'Import(');
