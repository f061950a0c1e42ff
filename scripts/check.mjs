/** `npm run check`: every gate but the tests. All of them run, so that one look shows everything; exits with 1 when any failed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { prepareOrExit } from './prepare.mjs';
import { root, runNpm } from './processes.mjs';

const gates = ['format:check', 'lint', 'typecheck', 'deps:check', 'unused:check', 'openapi:check'];

/** Where packages come from is the business of each machine's npm settings. */
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
