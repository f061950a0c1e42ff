import type { JsonObject } from '../events/envelope.js';
import type { Clock } from '../platform/clock.js';
import type { RecordStore } from '../projections/store/readModelStore.js';

/**
 * One small record for each lease, in which its holder shows that it is alive, so that the log holds
 * no renewals (docs/adr/0031-leases-beside-the-log.md). Holder and successor change it only from the
 * value that they saw last: either the holder's next sign comes first, and the successor waits
 * again, or the successor's claim does, and the holder has lost the lease.
 */
export interface LeaseRecords {
  /** What stands there now. */
  readonly see: (lease: string) => Promise<LeaseSign>;
  /** Writes `next` if `seen` is still there, and resolves with it; otherwise with null. */
  readonly change: (lease: string, seen: LeaseSign, next: JsonObject) => Promise<LeaseSign | null>;
}

/** `record` is null until the holder's first sign. */
export interface LeaseSign {
  readonly record: JsonObject | null;
}

/** Before the holder's first sign, and any claim. */
export const noSign: LeaseSign = { record: null };

export const isSameSign = (one: LeaseSign, other: LeaseSign): boolean =>
  JSON.stringify(one.record) === JSON.stringify(other.record);

const collection = 'leases';
/** Far longer than clocks differ: a process with a fast clock must see the signs of the others. */
const KEPT_MS = 86_400_000;

export const createLeaseRecords = (records: RecordStore, clock: Clock): LeaseRecords => ({
  see: async (lease) => ({ record: await records.get(collection, lease) }),
  change: async (lease, { record }, next) => {
    const expiresAt = clock.now() + KEPT_MS;
    const isChanged =
      record === null
        ? await records.insert(collection, lease, next, expiresAt)
        : await records.replace(collection, lease, record, next, expiresAt);
    return isChanged ? { record: next } : null;
  },
});
