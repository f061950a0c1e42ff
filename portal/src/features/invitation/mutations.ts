import type { ClaimInvitationResponse, Invitation } from '@doorstep/sdk';
import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { meKeys } from '../me/keys.js';
import { websiteKeys } from '../website/keys.js';
import { invitationKeys } from './keys.js';

/** Takes up an invitation: the website is then among one's own. */
export const useClaim = (invitationId: string): UseMutationResult<ClaimInvitationResponse, Error, void> => {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => doorstep.invitations.claim(invitationId),
    onSuccess: () =>
      Promise.all([queries.invalidateQueries({ queryKey: meKeys.me }), queries.invalidateQueries({ queryKey: websiteKeys.all })]),
    // It may be that the invitation does not hold any more.
    onError: () => queries.invalidateQueries({ queryKey: invitationKeys.invitation(invitationId) }),
  });
};

/** Asks the agency to renew an expired one. */
export const useRequestRenewal = (invitationId: string): UseMutationResult<Invitation, Error, void> =>
  useMutation({ mutationFn: () => doorstep.invitations.requestRenewal(invitationId) });
