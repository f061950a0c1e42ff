/**
 * `npm run check`: every gate but the tests. Runs all of them even when one fails; exits with 1
 * when any failed. What failed, gates and tests of theirs, is written at the end, and with
 * `--failed=<file>` into that file too, a line each.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareOrExit } from './prepare.mjs';
import { root, runNpm } from './processes.mjs';
import { failedTests, resultsIn } from './testResults.mjs';

/** One after the other in each list, the lists beside each other; what measures times runs alone, after them. */
const beside = [
  ['lint'],
  ['format:check', 'typecheck', 'deps:check', 'unused:check', 'openapi:check', 'openapi:breaking', 'sdk:check', 'docs:check'],
];
const alone = ['lighthouse', 'long:check'];

/** Each machine's npm settings decide where packages come from. */
const lockFileNamesAddresses = () =>
  /"resolved": *"(?!file:)[a-z+]+:/.test(readFileSync(join(root, 'package-lock.json'), 'utf8'));

/**
 * Runs a gate. Those that are tests leave their results in a file.
 * @param {string} gate
 * @param {string} folder
 * @returns {Promise<string[]>} what failed
 */
const failuresOf = async (gate, folder) => {
  const results = join(folder, `${gate.replace(':', '-')}.json`);
  const options = gate === 'long:check' ? ['--', '--json', `--outputFile=${results}`] : [];
  if ((await runNpm(['run', '--silent', gate, ...options])) === 0) return [];
  return [gate, ...failedTests(resultsIn(results), root)];
};

/** @param {readonly string[]} gates */
const runAll = async (gates) => {
  for (const gate of gates) {
    process.stdout.write(`\n── ${gate}\n`);
    failed.push(...(await failuresOf(gate, folder)));
  }
};

const { values } = parseArgs({ options: { failed: { type: 'string' } } });
await prepareOrExit();
/** @type {string[]} */
const failed = [];
const folder = mkdtempSync(join(tmpdir(), 'doorstep-check-'));
try {
  await Promise.all(beside.map(runAll));
  await runAll(alone);
} finally {
  rmSync(folder, { recursive: true });
}
if (lockFileNamesAddresses()) failed.push('package-lock.json carries download addresses');

process.stdout.write(failed.length === 0 ? '\nAll gates passed.\n' : `\nFailed:\n${failed.join('\n')}\n`);
if (values.failed !== undefined) writeFileSync(values.failed, failed.map((line) => `${line}\n`).join(''));
process.exitCode = failed.length === 0 ? 0 : 1;
