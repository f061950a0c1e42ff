import type { Upcaster } from '../defineStream.js';

/** Version 1 knew no price: what it offered is the default one. */
const withoutPrice: Upcaster = (data) => data;

export const accessUpcasters = {
  InvitationIssued: [withoutPrice],
  InvitationRenewed: [withoutPrice],
} satisfies Record<string, readonly Upcaster[]>;
