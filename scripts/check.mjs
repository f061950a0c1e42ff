/**
 * `npm run check`: every gate but the tests. Runs all of them even when one fails; exits with 1
 * when any failed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { prepareOrExit } from './prepare.mjs';
import { root, runNpm } from './processes.mjs';

const gates = [
  'format:check',
  'lint',
  'typecheck',
  'deps:check',
  'unused:check',
  'openapi:check',
  'openapi:breaking',
  'sdk:check',
  'docs:check',
  'lighthouse',
  'long:check',
];

/** Each machine's npm settings decide where packages come from. */
const lockFileNamesAddresses = () =>
  /"resolved": *"(?!file:)[a-z+]+:/.test(readFileSync(join(root, 'package-lock.json'), 'utf8'));

await prepareOrExit();
const failed = [];
for (const gate of gates) {
  process.stdout.write(`\n── ${gate}\n`);
  if ((await runNpm(['run', '--silent', gate])) !== 0) failed.push(gate);
}
if (lockFileNamesAddresses()) failed.push('package-lock.json carries download addresses');

process.stdout.write(failed.length === 0 ? '\nAll gates passed.\n' : `\nGates that failed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
