/** What jest's `--json` says of a run, as far as `npm test` reads it. */

import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * @typedef {{ name: string, status: string, assertionResults: { status: string, fullName: string }[] }} FileResult
 * @typedef {{ numPassedTests: number, numFailedTests: number, numRuntimeErrorTestSuites: number, testResults: FileResult[] }} Results
 */

/** @type {Results} */
export const noResults = { numPassedTests: 0, numFailedTests: 0, numRuntimeErrorTestSuites: 0, testResults: [] };

/**
 * There are none of a run that could not begin.
 * @param {string} file
 * @returns {Results}
 */
export const resultsIn = (file) =>
  existsSync(file) ? /** @type {Results} */ (JSON.parse(readFileSync(file, 'utf8'))) : noResults;

/**
 * The options of jest without those that say where its results go, and which of them say what a test is.
 * @param {readonly string[]} args
 * @returns {{ options: string[], match: string[], outputFile?: string }}
 */
export const optionsOf = (args) => {
  const prefix = '--outputFile=';
  const outputFile = args.find((arg) => arg.startsWith(prefix))?.slice(prefix.length);
  const matchAt = args.indexOf('--testMatch');
  return {
    options: args.filter((arg) => arg !== '--json' && !arg.startsWith(prefix)),
    match: matchAt < 0 ? args.filter((arg) => arg.startsWith('--testMatch=')) : args.slice(matchAt, matchAt + 2),
    ...(outputFile !== undefined && { outputFile }),
  };
};

/**
 * @param {Results} results
 * @returns {string[]} paths of the files with a test that failed, and of those that cannot be loaded
 */
export const failedFiles = ({ testResults }) => testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);

/**
 * @param {Results} results
 * @param {string} folder of the checkout
 * @returns {string[]} the tests that failed, each with its file; a file that cannot be loaded stands for its tests
 */
export const failedTests = ({ testResults }, folder) =>
  testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, assertionResults }) => {
      const file = relative(folder, name);
      const tests = assertionResults.filter(({ status }) => status === 'failed');
      return tests.length === 0 ? [file] : tests.map(({ fullName }) => `${file}: ${fullName}`);
    });

/**
 * The first run with the results of the files that ran again; those that did not stay as they were.
 * @param {Results} first
 * @param {Results} second
 * @returns {Results}
 */
export const merged = (first, second) => {
  const again = new Map(second.testResults.map((result) => [result.name, result]));
  const testResults = first.testResults.map((result) => again.get(result.name) ?? result);
  const countOf = (/** @type {string} */ status) =>
    testResults.reduce((sum, { assertionResults }) => sum + assertionResults.filter((one) => one.status === status).length, 0);
  return {
    ...first,
    testResults,
    numPassedTests: countOf('passed'),
    numFailedTests: countOf('failed'),
    numRuntimeErrorTestSuites: testResults.filter(
      ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((one) => one.status === 'failed'),
    ).length,
  };
};
