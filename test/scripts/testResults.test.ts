import { describe, expect, test } from '@jest/globals';
import { failedFiles, merged, noResults, optionsOf } from '../../scripts/testResults.mjs';

const file = (name: string, ...statuses: string[]) => ({
  name,
  status: statuses.every((status) => status === 'passed' || status === 'pending') && statuses.length > 0 ? 'passed' : 'failed',
  assertionResults: statuses.map((status) => ({ status })),
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

  test('stay failures when they fail again', () => {
    const after = merged(first, results(file('a', 'passed', 'failed'), file('c')));
    expect(after).toMatchObject({ numPassedTests: 2, numFailedTests: 1, numRuntimeErrorTestSuites: 1 });
    expect(failedFiles(after)).toEqual(['a', 'c']);
  });
});

test('where the results go is no option of a second try', () => {
  expect(optionsOf(['--ci', '--json', '--outputFile=/x', 'test/a'])).toEqual({ options: ['--ci', 'test/a'], outputFile: '/x' });
  expect(optionsOf([])).toEqual({ options: [] });
});
