import { availableParallelism } from 'node:os';

/**
 * Native ES modules: run with `node --experimental-vm-modules` (`npm test` does).
 * @type {import('jest').Config}
 */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testSequencer: '<rootDir>/test/support/sequencer.mjs',
  globalSetup: '<rootDir>/test/support/serversStart.mjs',
  globalTeardown: '<rootDir>/test/support/serversStop.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } }],
  },
  // Ends what hangs. How long something may take is for the test to say.
  testTimeout: 240_000,
  // Many tests wait for processes or the disk more than they compute: with a worker for each core,
  // cores would stand idle.
  maxWorkers: availableParallelism() + 1,
  // What a test file has loaded is never given back (modules of `--experimental-vm-modules`): a
  // worker that has run many is replaced.
  workerIdleMemoryLimit: '1GB',
  // Only with --coverage. What runs in processes of its own (start, operations, crashes) is not
  // counted.
  coverageProvider: 'v8',
  collectCoverageFrom: ['src/**/*.ts'],
  coverageReporters: ['text-summary', 'lcovonly'],
  coverageThreshold: { global: { lines: 80 } },
};
