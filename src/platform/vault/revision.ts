import { nextTurn } from '../eventLoop.js';
import type { VaultRecords } from './records.js';

/** Shows whether what was read from the store may have changed since, without reading it again. */
export interface Revision {
  /**
   * Another value after each change, by any process; undefined where the store has none to tell.
   * Asked once for all who ask in one turn of the event loop, after the last of them did.
   */
  now(): Promise<string | undefined>;
  /** Notes a change by this process, which the store's revision does not show. */
  noteOwnChange(): void;
}

export const createRevision = (records: VaultRecords): Revision => {
  let ownChanges = 0;
  let asking: Promise<string | undefined> | undefined;
  return {
    now: () => {
      asking ??= nextTurn().then(async () => {
        asking = undefined;
        const own = ownChanges;
        const stored = await records.revision?.();
        return stored === undefined ? undefined : `${String(stored)}/${String(own)}`;
      });
      return asking;
    },
    noteOwnChange: () => {
      ownChanges += 1;
    },
  };
};

export interface Validated<Value> {
  readonly value: Value;
  /** Of the store, from before the value was read there. */
  readonly revision: string | undefined;
}

export const isAsOf = ({ revision }: Validated<unknown>, now: string | undefined): boolean =>
  now !== undefined && revision === now;
