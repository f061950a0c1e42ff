/**
 * `npm run mutate`: changes the code that must not be wrong, one small change at a time, and prints
 * the changes that the direct tests of the changed file do not notice. It takes minutes, and is no
 * gate.
 *
 * - `--files <part of a path>`, repeatable: these sources instead of those that must not be wrong
 * - `--sample <n>`: how many changes are tried (default 60)
 * - `--seed <text>`: which (default 1)
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import { report, root, StepFailed } from './processes.mjs';

const { values } = parseArgs({
  options: {
    files: { type: 'string', multiple: true },
    sample: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
  },
});

/** Decisions, states, processes, who is let in, what is encrypted, leases, folds, repetitions. */
const mustNotBeWrong = [
  /\.(decider|state|process|compensation)\.ts$/,
  /^src\/commands\/access\/access\.transfers\.ts$/,
  /^src\/events\/(streamFolds|delivery\/delivery\.block)\.ts$/,
  /^src\/http\/(auth\/.*|idempotency)\.ts$/,
  /^src\/platform\/(cipher|personal|vault\/\w+)\.ts$/,
  /^src\/(events\/attempts|workers\/lease)\.ts$/,
];

/** Tests of what is reached over HTTP only. */
const testsOverHttp = /** @type {const} */ ([
  [
    'src/http/auth/',
    ['test/http/accessTokens', 'test/http/portalAuthentication', 'test/http/subjectCheck', 'test/invariants/authorisation'],
  ],
  ['src/http/idempotency.ts', ['test/http/idempotency']],
]);

/** A test that takes longer hangs, because of the change. */
const timeoutMs = 120_000;

/**
 * @param {string} folder
 * @returns {string[]} paths from the root
 */
const filesIn = (folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name.replaceAll('\\', '/')}`);

const sources = filesIn('src').filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'));
const tests = filesIn('test').filter((name) => name.endsWith('.test.ts'));

/** @param {string} name */
const importsOf = (name) =>
  [...readFileSync(join(root, name), 'utf8').matchAll(/from '(\.[^']+)\.js'/g)].map(([, path = '']) =>
    relative(root, resolve(root, dirname(name), `${path}.ts`)).replaceAll('\\', '/'),
  );

/**
 * The tests that import a source, else those that import what is made of it (a decider of its
 * state).
 * @param {string} source
 * @returns {string[]}
 */
const directTests = (source) => {
  const overHttp = testsOverHttp.find(([prefix]) => source.startsWith(prefix))?.[1] ?? [];
  const users = sources.filter((name) => /\.(decider|process|compensation)\.ts$/.test(name) && importsOf(name).includes(source));
  const wanted = [source, ...users];
  return tests.filter(
    (name) =>
      overHttp.some((prefix) => name.startsWith(prefix)) ||
      (!/\.(routes|handlers|saga|faults)\.test\.ts$|^test\/(attacks|contracts|e2e|http|invariants)\//.test(name) &&
        importsOf(name).some((imported) => wanted.includes(imported))),
  );
};

/** @param {unknown} value */
const orderOf = (value) =>
  createHash('sha256')
    .update(JSON.stringify([values.seed, value]))
    .digest('hex');

/** A copy of the checkout in which each change sleeps until it is named. */
const makeCopy = async (/** @type {string[]} */ changed) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'doorstep-mutants-')));
  for (const name of readdirSync(root)) {
    if (['src', 'test'].includes(name)) cpSync(join(root, name), join(folder, name), { recursive: true });
    else if (['package.json', 'jest.config.mjs', 'jest.config.js'].includes(name)) cpSync(join(root, name), join(folder, name));
    else if (name !== '.git') symlinkSync(join(root, name), join(folder, name));
  }
  const silent = () => undefined;
  const logger = { isDebugEnabled: () => false, debug: silent, info: silent, warn: silent };
  const files = changed.map((name) => ({
    name: join(folder, name),
    mutate: true,
    content: readFileSync(join(root, name), 'utf8'),
  }));
  const options = { plugins: null, excludedMutations: [], ignorers: [], noHeader: false };
  const instrumented = await new Instrumenter(/** @type {any} */ (logger)).instrument(files, options);
  for (const { name, content } of instrumented.files) writeFileSync(name, content);
  const mutants = instrumented.mutants.map(({ id, fileName, location, mutatorName, replacement }) => ({
    id,
    name: relative(folder, fileName).replaceAll('\\', '/'),
    line: location.start.line + 1,
    mutatorName,
    replacement,
  }));
  return { folder, mutants };
};

/**
 * @param {string} folder
 * @param {string[]} names
 * @param {string} [mutant] the change that is active
 */
const passes = async (folder, names, mutant) => {
  const jest = fileURLToPath(import.meta.resolve('jest/bin/jest'));
  const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...node, jest, '--bail', '--silent', '-w', '1', '--runTestsByPath', ...names], {
    cwd: folder,
    stdio: 'ignore',
    // A group of its own: jest's workers end with it.
    detached: true,
    env: { ...process.env, ...(mutant !== undefined && { __STRYKER_ACTIVE_MUTANT__: mutant }) },
  });
  const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), timeoutMs);
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  return code === 0;
};

const wanted = values.files;
const changed = sources.filter((name) =>
  wanted === undefined ? mustNotBeWrong.some((pattern) => pattern.test(name)) : wanted.some((part) => name.includes(part)),
);
const testsOf = new Map(changed.map((name) => [name, directTests(name)]));
for (const [name, found] of testsOf) if (found.length === 0) report(`${name} has no direct test and is left out`);
const { folder, mutants } = await makeCopy(changed.filter((name) => testsOf.get(name)?.length !== 0));
try {
  const sample = mutants
    .map((mutant) => ({ mutant, order: orderOf({ ...mutant, id: undefined }) }))
    .sort((one, other) => (one.order < other.order ? -1 : 1))
    .slice(0, Number(values.sample))
    .map(({ mutant }) => mutant);
  const needed = [...new Set(sample.flatMap(({ name }) => testsOf.get(name) ?? []))];
  report(`${mutants.length} changes in ${changed.length} files; trying ${sample.length}`);
  if (needed.length > 0 && !(await passes(folder, needed))) throw new StepFailed('the tests fail without any change');
  const survivors = [];
  for (const mutant of sample) {
    const { id, name, line, mutatorName, replacement } = mutant;
    if (!(await passes(folder, testsOf.get(name) ?? [], id))) continue;
    survivors.push(mutant);
    process.stdout.write(`${name}:${line} ${mutatorName}: ${replacement.replaceAll(/\s+/g, ' ').slice(0, 120)}\n`);
  }
  process.stdout.write(`${sample.length - survivors.length} of ${sample.length} changes noticed (seed ${values.seed}).\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
