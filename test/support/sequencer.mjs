import imported from '@jest/test-sequencer';

/**
 * Its types describe the older module form, where the class is `default` of what is imported here.
 * @typedef {import('@jest/test-sequencer').default} BaseSequencer
 * @typedef {Parameters<BaseSequencer['sort']>[0][number]} Test
 */
const Sequencer =
  /** @type {new (...options: ConstructorParameters<typeof import('@jest/test-sequencer').default>) => BaseSequencer} */ (
    /** @type {unknown} */ (imported)
  );

/**
 * The longest, longest first. Jest begins with what took longest the last time; on a machine where
 * nothing was run yet it goes by the size of the files, and would leave some of these for the end,
 * when the other workers have nothing to do any more.
 */
const longest = [
  'portal/matrix',
  'e2e/schemathesis',
  'cli/everyWrite',
  'cli/signIn',
  'e2e/appPages',
  'bench/bench',
  'contracts/eventStoreDb',
  'e2e/signInPages',
  'portal/sessionPage',
  'portal/framePage',
  'portal/stories',
  'portal/status',
  'cli/commands',
  'e2e/outsideStores',
  'e2e/busyEventStore',
  'contracts/eventStoreDbWire',
  'scripts/prepare',
  'transfer/transfer.saga',
  'provisioning/provisioning.providers',
  'docs/recipes',
  'e2e/manyProcesses',
  'e2e/providersKilled',
  'provisioning/provisioning.saga',
  'e2e/documents',
  'contracts/mongodbReadModelStore',
  'attacks/hostileSite',
  'website/website.site',
  'http/git',
  'cli/frame',
  'e2e/backup',
  'sdk/sdk.service',
  'e2e/killStorm',
  'mcp/story',
];

/** @param {Test} test */
const placeOf = ({ path }) => {
  const place = longest.findIndex((name) => path.endsWith(`/${name}.test.ts`) || path.endsWith(`/${name}.gate.ts`));
  return place < 0 ? longest.length : place;
};

export default class LongestFirst extends Sequencer {
  /**
   * @override
   * @param {Test[]} tests
   */
  sort(tests) {
    return [.../** @type {Test[]} */ (super.sort(tests))].sort((one, other) => placeOf(one) - placeOf(other));
  }
}
