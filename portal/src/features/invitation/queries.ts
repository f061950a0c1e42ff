import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { invitationKeys } from './keys.js';

/** An invitation, for whom it was sent to. */
export const invitationQuery = (invitationId: string) =>
  queryOptions({
    queryKey: invitationKeys.invitation(invitationId),
    queryFn: ({ signal }) => doorstep.invitations.get(invitationId, { signal }),
  });

/** What a transfer comes to. */
export const ledgerQuery = (websiteId: string, invitationId: string) =>
  queryOptions({
    queryKey: invitationKeys.ledger(invitationId),
    queryFn: ({ signal }) => doorstep.websites.transfers.ledger(websiteId, invitationId, { signal }),
  });
