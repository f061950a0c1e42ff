import { describe, expect, test } from '@jest/globals';
import { failedFiles, failedTests, merged, noResults, optionsOf } from '../../scripts/testResults.mjs';

const file = (name: string, ...statuses: string[]) => ({
  name,
  status: statuses.every((status) => status === 'passed' || status === 'pending') && statuses.length > 0 ? 'passed' : 'failed',
  assertionResults: statuses.map((status, index) => ({ status, fullName: `test ${String(index)}` })),
});
const results = (...testResults: ReturnType<typeof file>[]) => ({ ...noResults, testResults });

describe('the results of a second try', () => {
  const first = results(file('a', 'passed', 'failed'), file('b', 'passed', 'pending'), file('c'));

  test('concern the files that failed, or could not be loaded', () => {
    expect(failedFiles(first)).toEqual(['a', 'c']);
  });

  test('take the place of the first', () => {
    const after = merged(first, results(file('a', 'passed', 'passed'), file('c', 'passed')));
    expect(after).toMatchObject({ numPassedTests: 4, numFailedTests: 0, numRuntimeErrorTestSuites: 0 });
  });

  test('are no results of a file that did not run', () => {
    expect(failedFiles(merged(first, noResults))).toEqual(['a', 'c']);
  });

  test('stay failures when they fail again', () => {
    const after = merged(first, results(file('a', 'passed', 'failed'), file('c')));
    expect(after).toMatchObject({ numPassedTests: 2, numFailedTests: 1, numRuntimeErrorTestSuites: 1 });
    expect(failedFiles(after)).toEqual(['a', 'c']);
  });
});

test('what failed is named by file and test, a file that cannot be loaded by itself', () => {
  const failed = results(
    file('/checkout/test/a', 'passed', 'failed'),
    file('/checkout/test/b', 'passed'),
    file('/checkout/test/c'),
  );
  expect(failedTests(failed, '/checkout/')).toEqual(['test/a: test 1', 'test/c']);
});

test('a second try takes what a test is from the first, and not where its results go', () => {
  const args = ['--ci', '--json', '--outputFile=/x', '--testMatch', '**/*.gate.ts'];
  expect(optionsOf(args)).toEqual({
    options: ['--ci', '--testMatch', '**/*.gate.ts'],
    match: ['--testMatch', '**/*.gate.ts'],
    outputFile: '/x',
  });
  expect(optionsOf(['--testMatch=**/*.gate.ts'])).toMatchObject({ match: ['--testMatch=**/*.gate.ts'] });
  expect(optionsOf(['test/a'])).toEqual({ options: ['test/a'], match: [] });
});
