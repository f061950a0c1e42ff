import type { LastLook } from '../../events/receipt/receipt.looks.js';

/** Records that a person looked at the delivery block of a website. */
export interface RecordLook {
  readonly type: 'RecordLook';
  readonly at: string;
  readonly websiteId: string;
  readonly readerId: string;
  /** Absent of admins. */
  readonly clientId?: string | undefined;
  /** What the person saw before they had a stream of their own. */
  readonly earlier?: LastLook | undefined;
  /** The revision that the person saw. */
  readonly revision: number;
  /** The revision that the delivery block has; `null` when it is not set up. */
  readonly current: number | null;
}
