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
  'e2e/schemathesis',
  'provisioning/provisioning.saga',
  'e2e/manyProcesses',
  'attacks/hostileSite',
  'e2e/killStorm',
  'scripts/prepare',
  'contracts/eventStoreDb',
  'e2e/outsideStores',
  'e2e/providersKilled',
  'e2e/busyEventStore',
  'e2e/signInPages',
  'transfer/transfer.saga',
  'contracts/embeddedEventStore',
  'billing/billing.stripe',
  'e2e/backup',
  'contracts/mongodbReadModelStore',
  'e2e/runtimes',
  'invariants/anyRequest',
  'http/senders',
  'contracts/eventStoreDbSecurity',
  'bench/bench',
];

/** @param {Test} test */
const placeOf = ({ path }) => {
  const place = longest.findIndex((name) => path.endsWith(`/${name}.test.ts`));
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
