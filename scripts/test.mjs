/**
 * `npm test`: installs and builds (some tests start the built server), then runs jest with the
 * arguments given. With `CI=true` the files that failed run once more, alone: a browser beside other
 * work on a slow machine fails for want of time. What passes only then is named at the end.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareOrExit } from './prepare.mjs';
import { root, run } from './processes.mjs';
import { failedFiles, merged, optionsOf, resultsIn } from './testResults.mjs';

/** More than these have a reason of their own. */
const maxFilesAgain = 8;

const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
const runJest = (/** @type {readonly string[]} */ options) =>
  // Found now, because it may just have been installed.
  run(process.execPath, [...node, fileURLToPath(import.meta.resolve('jest/bin/jest')), ...options]);

/** @param {ReturnType<typeof optionsOf>} options */
const runWithSecondTry = async ({ options, match, outputFile }) => {
  const folder = mkdtempSync(join(tmpdir(), 'doorstep-tests-'));
  const resultsOf = async (/** @type {readonly string[]} */ more, /** @type {string} */ name) => {
    const file = join(folder, name);
    const exitCode = await runJest([...more, '--json', `--outputFile=${file}`]);
    return { exitCode, results: resultsIn(file) };
  };
  try {
    const first = await resultsOf(options, 'first.json');
    const again = failedFiles(first.results);
    let last = first;
    if (again.length > 0 && again.length <= maxFilesAgain) {
      process.stderr.write(`\nAgain, alone:\n${again.join('\n')}\n`);
      const second = await resultsOf(['--ci', '--runInBand', ...match, '--runTestsByPath', ...again], 'second.json');
      last = { exitCode: second.exitCode, results: merged(first.results, second.results) };
      const stillFailing = failedFiles(last.results);
      for (const file of again.filter((one) => !stillFailing.includes(one))) {
        process.stderr.write(`Passed only when run alone: ${file.replace(root, '')}\n`);
      }
    }
    if (outputFile !== undefined) writeFileSync(outputFile, JSON.stringify(last.results));
    return last.exitCode;
  } finally {
    rmSync(folder, { recursive: true });
  }
};

await prepareOrExit();
const args = process.argv.slice(2);
process.exitCode = await (process.env['CI'] === 'true' ? runWithSecondTry(optionsOf(args)) : runJest(args));
