import type { JsonObject } from '../../../src/events/envelope.js';
import type { DocumentWrite, ReadModel, ReadModelQuery, ReadModelStore } from '../../../src/projections/store/readModelStore.js';

export interface ReadModelStoreHarness {
  /**
   * Opens one more store on the same data, as another process would; `close` closes it if the test
   * did not.
   */
  open(): Promise<ReadModelStore>;
  /** Moves the time that records expire by. */
  advance(ms: number): Promise<void>;
  now(): number;
  close(): Promise<void>;
}

export const sites: ReadModel = {
  name: 'site',
  version: '1',
  indexes: [
    { field: 'status' },
    { field: 'features' },
    { field: 'owner' },
    { field: 'title', sorts: true },
    { field: 'status', sorts: true },
  ],
  counted: ['status', 'features'],
};
export const sitesNext: ReadModel = { ...sites, version: '2' };

export const write = (id: string, position: number | bigint, body: JsonObject | null): DocumentWrite => ({
  id,
  position: BigInt(position),
  revision: BigInt(position) - 1n,
  body,
});

export const everything: ReadModelQuery = { order: 'ascending', limit: 1_000 };
export const never = (): AbortSignal => new AbortController().signal;

/** The store of one test, in which `sites` is prepared. */
export interface OpenedStore {
  readonly harness: ReadModelStoreHarness;
  store: ReadModelStore;
  /** The ids that a query finds. */
  readonly ids: (query?: Partial<ReadModelQuery>, model?: ReadModel) => Promise<readonly string[]>;
}
