import { afterEach, beforeEach, describe } from '@jest/globals';
import { documentsContract } from './readModelStore/documents.js';
import { findContract } from './readModelStore/find.js';
import { recordsContract } from './readModelStore/records.js';
import { sortedContract } from './readModelStore/sorted.js';
import { versionsContract } from './readModelStore/versions.js';
import { writesContract } from './readModelStore/writes.js';
import { everything, sites, type OpenedStore, type ReadModelStoreHarness } from './readModelStore/support.js';

/** What every adapter of the read-model store port promises. */
export const readModelStoreContract = (name: string, createHarness: () => Promise<ReadModelStoreHarness>): void => {
  describe(`read-model store contract: ${name}`, () => {
    const given = {} as OpenedStore;

    beforeEach(async () => {
      const harness = await createHarness();
      const store = await harness.open();
      await store.prepare(sites);
      Object.assign(given, {
        harness,
        store,
        ids: async (query: Parameters<OpenedStore['ids']>[0] = {}, model = sites) =>
          (await given.store.find(model, { ...everything, ...query })).map(({ id }) => id),
      });
    });

    afterEach(() => given.harness.close());

    documentsContract(given);
    findContract(given);
    sortedContract(given);
    writesContract(given);
    versionsContract(given);
    recordsContract(given);
  });
};
