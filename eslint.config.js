import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const throughPorts =
  'take Clock or Random from src/platform instead: tests and the simulation run on virtual time and replay seeds';

const noTimers = ['timers', 'timers/promises'].flatMap((name) => [
  { name, message: throughPorts },
  { name: `node:${name}`, message: throughPorts },
]);

/**
 * Time, timers and chance reach the code through ports only, and addresses through `parseUrl`.
 * @type {import('eslint').Linter.RulesRecord}
 */
const noAmbientTimeOrChance = {
  'no-restricted-globals': ['error', ...['setTimeout', 'setInterval'].map((name) => ({ name, message: throughPorts }))],
  'no-restricted-imports': ['error', ...noTimers],
  'no-restricted-syntax': [
    'error',
    {
      selector: "MemberExpression[property.name='canParse']",
      message: 'is wrong in Node 20: take parseUrl from src/platform/urls.ts',
    },
    { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: throughPorts },
    { selector: "CallExpression[callee.name='Date']", message: throughPorts },
    { selector: "MemberExpression[object.name='Date'][property.name='now']", message: throughPorts },
    { selector: "MemberExpression[object.name='Math'][property.name='random']", message: throughPorts },
    { selector: 'MemberExpression[property.name=/^set(Timeout|Interval)$/]', message: throughPorts },
    { selector: "MemberExpression[object.name='AbortSignal'][property.name='timeout']", message: throughPorts },
  ],
};

export default defineConfig(
  globalIgnores([
    'build/',
    '**/dist/',
    '**/dist.*/',
    'mcp/types/',
    'mcp/types.*/',
    'sdk/src/generated/',
    'coverage/',
    'data/',
    '.venv/',
    'bench/emmett/',
  ]),
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    linterOptions: { reportUnusedDisableDirectives: 'error', noInlineConfig: true },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: 'error',
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
      'prefer-template': 'error',
      '@typescript-eslint/array-type': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-shadow': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/prefer-nullish-coalescing': 'error',
      '@typescript-eslint/prefer-optional-chain': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    files: ['mcp/src/server.ts'],
    rules: {
      // Clients of 2025 say what they can at the beginning alone, and nothing else remembers it.
      '@typescript-eslint/no-deprecated': [
        'error',
        { allow: [{ from: 'package', name: 'getClientCapabilities', package: '@modelcontextprotocol/server' }] },
      ],
    },
  },
  {
    files: ['cli/src/login/openId.ts'],
    rules: {
      // Marked as deprecated to stand out; an issuer on this machine may do without TLS.
      '@typescript-eslint/no-deprecated': [
        'error',
        { allow: [{ from: 'package', name: 'allowInsecureRequests', package: 'openid-client' }] },
      ],
    },
  },
  {
    files: ['src/**'],
    ignores: ['src/platform/clock.ts', 'src/platform/random.ts'],
    rules: noAmbientTimeOrChance,
  },
  {
    files: ['src/**/*.{commands,decider,state,projection,summary,process}.ts', 'src/events/*/*.*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: noTimers,
          patterns: [
            {
              regex: '/platform/clock\\.js$',
              allowImportNames: ['isoTime'],
              message: 'a pure file is told the time',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['src/http/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: noTimers,
          patterns: [
            { regex: '/events/store/eventStore\\.js$', importNames: ['EventStore'], message: 'routes are given an engine' },
            {
              regex: '/events/store/planningEventStore\\.js$',
              allowImportNames: ['PlannedEvent'],
              message: 'the engine plans',
            },
            {
              regex: '/projections/store/readModelStore\\.js$',
              importNames: ['ReadModelStore'],
              message: 'routes are given a reader',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['test/**', 'bench/**', 'scripts/**'],
    rules: {
      // Titles, fixtures and messages are full of numbers; jest's matchers answer with `any`.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unsafe-assignment': 'off',
    },
  },
  {
    files: ['portal/**/*.{ts,tsx}'],
    extends: [reactHooks.configs.flat.recommended],
    rules: {
      // Handlers are called for what they do.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      'no-restricted-imports': [
        'error',
        {
          paths: [{ name: '@mantine/core', message: 'take it from src/theme, which brings its style sheet' }],
        },
      ],
    },
  },
  {
    files: ['portal/src/theme/**', 'portal/src/main.tsx'],
    rules: { 'no-restricted-imports': 'off' },
  },
  {
    // A query's type is what the SDK says.
    files: ['portal/src/**/queries.ts', 'portal/src/**/mutations.ts', 'portal/src/**/keys.ts'],
    rules: { '@typescript-eslint/explicit-module-boundary-types': 'off' },
  },
  {
    files: ['cli/src/views/**'],
    // Views are made of numbers.
    rules: { '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }] },
  },
  {
    // Checked by TypeScript, which knows the globals and the types in comments.
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    rules: { 'no-undef': 'off', '@typescript-eslint/explicit-module-boundary-types': 'off' },
  },
);
