/** The rooms of the house (docs/architecture.md) as rules: which file may import which. */
const adapters = ['^src/integrations/[^/]+/(?!port\\.ts$)', '^src/events/store/[^/]+/', '^src/projections/store/[^/]+/'];
const packages = ['(^|/)node_modules/'];
const platform = '^src/platform/';
const facts = '^src/events/(?!store/).+\\.ts$';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'pure-by-suffix',
      comment:
        'Deciders, events, projections and processes are pure: they know their own area, the facts and the shapes they fill.',
      severity: 'error',
      from: {
        path: '([^/]+)\\.(?:commands|decider|events|upcasters|projection|summary|process|state)\\.ts$',
        // Of facts: they know where a stream starts.
        pathNot: '^src/events/.+\\.state\\.ts$',
      },
      to: {
        pathNot: [
          '/$1\\.[^/]+\\.ts$',
          facts,
          '^src/commands/(decider|deletedFiles|refusal)\\.ts$',
          '^src/projections/projection\\.ts$',
          // One that is folded from several streams is made of the others.
          '^src/projections/[^/]+/[^/]+\\.(?:projection|summary)\\.ts$',
          '^src/workers/lease\\.ts$',
          // Of the clock only `isoTime`: see eslint.config.js.
          '^src/platform/(blank|canonicalJson|clock|copyWith|formats|ids|searchTerms|times|urls)\\.ts$',
          '^(node:)?util$',
          '^node_modules/typebox/',
        ],
      },
    },
    {
      name: 'facts-do-no-io',
      comment: 'Pure files may import these, so these may not reach a store or the machine either.',
      severity: 'error',
      from: { path: [facts, '^src/workers/lease\\.ts$'], pathNot: '/streamFolds\\.ts$' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|util)$' },
    },
    {
      name: 'platform-stands-alone',
      severity: 'error',
      from: { path: platform },
      to: { path: '^src/', pathNot: platform },
    },
    {
      name: 'adapters-only-in-compose',
      comment: 'Everybody else knows ports; the composition alone knows which adapter stands behind which.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/compose/', ...adapters] },
      to: { path: adapters },
    },
    {
      name: 'integration-adapter',
      comment: 'An adapter imports its port, what adapters share, and the platform.',
      severity: 'error',
      from: { path: '^src/integrations/([^/]+)/' },
      to: {
        path: '^src/',
        pathNot: ['^src/integrations/$1/', '^src/integrations/([^/]+\\.ts|git/[^/]+\\.ts|[^/]+/port\\.ts)$', platform],
      },
    },
    {
      name: 'store-adapter',
      comment: 'A store imports its port, the shapes that it keeps, and the platform.',
      severity: 'error',
      from: { path: '^src/(events|projections)/store/([^/]+)/' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/$1/store/$2/',
          '^src/$1/store/[^/]+\\.ts$',
          '^src/events/envelope\\.ts$',
          '^src/projections/projection\\.ts$',
          platform,
        ],
      },
    },
    {
      name: 'facts-at-the-bottom',
      comment: 'The facts know nothing of what is done with them.',
      severity: 'error',
      from: { path: '^src/events/' },
      to: { path: '^src/', pathNot: ['^src/events/', platform] },
    },
    {
      name: 'commands-read-no-model',
      comment: 'A decision rests on streams alone; what a list has to say arrives in the command.',
      severity: 'error',
      from: { path: ['^src/commands/', '^src/engine\\.ts$'] },
      to: { path: '^src/', pathNot: ['^src/(commands|events)/', '^src/engine\\.ts$', platform] },
    },
    {
      name: 'projections-know-no-command',
      comment: 'Read models are made of facts, however these came about.',
      severity: 'error',
      from: { path: '^src/projections/' },
      to: { path: '^src/', pathNot: ['^src/(projections|events)/', platform] },
    },
    {
      name: 'integrations-know-no-entry',
      comment: 'Integrations do not know who asks, nor what is decided or read.',
      severity: 'error',
      from: { path: '^src/integrations/' },
      to: { path: '^src/', pathNot: ['^src/integrations/', platform] },
    },
    {
      name: 'entries-apart',
      comment: 'HTTP and the workers meet in the event log only; the rules of a process are open to both, being a decider.',
      severity: 'error',
      from: { path: '^src/(http|workers)/' },
      to: { path: '^src/(http|workers|operations)/', pathNot: ['^src/$1/', '\\.process\\.ts$'] },
    },
    {
      name: 'composition-on-top',
      comment: 'The composition knows every room; only programs are started from it.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(compose/|compose\\.ts$|main\\.ts$|projectorThread\\.ts$|operations/)' },
      to: { path: '^src/(compose/|compose\\.ts$|main\\.ts$|operations/)' },
    },
    {
      name: 'operations-without-http',
      severity: 'error',
      from: { path: '^src/operations/' },
      to: { path: '^src/http/' },
    },
    {
      name: 'http-holds-no-store',
      comment: 'Routes write by the engine and read by queries. Of the ports, eslint.config.js lets in faults and `RecordStore`.',
      severity: 'error',
      from: { path: '^src/http/' },
      to: {
        path: '^src/(events|projections)/store/',
        pathNot: '^src/(events/store/(eventStore|planningEventStore)|projections/store/readModelStore)\\.ts$',
      },
    },
    {
      name: 'only-what-is-shipped',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: ['^(test|bench|scripts)/'] },
    },
    {
      name: 'no-dev-dependency',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'portal-calls-the-api',
      comment: 'The portal is a program like any other: it has the API by the SDK, and shares no code with the service.',
      severity: 'error',
      from: { path: '^portal/src/' },
      to: { path: '^(src|cli|mcp|test|bench|scripts)/' },
    },
    {
      name: 'ui-knows-no-feature',
      comment: 'What all pages are made of knows of features who reads; the frame around the pages, where they are.',
      severity: 'error',
      from: { path: '^portal/src/ui/', pathNot: '^portal/src/ui/frame/' },
      to: { path: '^portal/src/features/', pathNot: '^portal/src/features/me/' },
    },
    {
      name: 'pages-apart',
      comment: 'Features share queries and parts. A page is loaded alone, with nothing of another.',
      severity: 'error',
      from: { path: '^portal/src/features/([^/]+)/' },
      to: { path: '^portal/src/features/[^/]+/[^/]*Page\\.tsx$', pathNot: '^portal/src/features/$1/' },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    { name: 'no-cycles', severity: 'error', from: { pathNot: '^portal/' }, to: { circular: true } },
    {
      name: 'no-cycles-in-the-portal',
      comment: 'The list of routes loads pages, which ask it for their title.',
      severity: 'error',
      from: { path: '^portal/src/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['dynamic-import'] } },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, pathNot: '\\.d\\.ts$' },
      to: {},
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    doNotFollow: { path: packages },
    moduleSystems: ['es6'],
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
    cache: false,
  },
};
