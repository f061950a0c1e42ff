import { afterAll, beforeAll, describe } from '@jest/globals';
import type { EventStore } from '../../src/events/store/eventStore.js';
import { appendCases } from '../support/eventStoreAppendCases.js';
import { copyCases } from '../support/eventStoreCopyCases.js';
import { dropCases } from '../support/eventStoreDropCases.js';
import { faultCases } from '../support/eventStoreFaultCases.js';
import type { EventStoreHarness, EventStoreUnderTest } from '../support/eventStoreHarness.js';
import { modelCases } from '../support/eventStoreModelCases.js';
import { readCases } from '../support/eventStoreReadCases.js';
import { subscribeCases } from '../support/eventStoreSubscribeCases.js';

/**
 * What every event store promises. The number before each name is that of the promise. A fault that
 * an adapter cannot produce is a skipped test whose name says why.
 *
 * 1–7 expected revisions · 8 atomic and contiguous · 9 empty appends · 10–13 repetition by event id
 * · 14–15 parallel appends · 16 reading a stream · 17 JSON comes back exactly · 18 order of the log
 * · 19–23 subscriptions · 24 size · 25 stream names · 26 outcome unknown · 27 store down · 28
 * killed · 29 closing · 30 times · 31 bigint · 32 disk full · 33 copies of another log
 * · 34 dropping a stream
 */
export const eventStoreContract = (name: string, createHarness: () => EventStoreHarness): void => {
  describe(`${name} keeps the event store contract`, () => {
    const harness = createHarness();
    let created: EventStoreUnderTest | undefined;

    const under = (): EventStoreUnderTest => {
      if (created === undefined) throw new Error('the store is not there yet');
      return created;
    };
    const store = (): EventStore => under().store;

    beforeAll(async () => {
      created = await harness.create();
    });

    afterAll(async () => {
      await created?.store.close();
    });

    appendCases(store);
    readCases(under);
    subscribeCases(under, harness.faults);
    dropCases(under);
    faultCases(under, harness);
    modelCases(under);
    copyCases(under);
  });
};
