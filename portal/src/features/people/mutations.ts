import type { AddClientRequest, WebsiteClientLink } from '@doorstep/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { websiteKeys } from '../website/keys.js';
import { peopleKeys } from './keys.js';

/**
 * A change of who may do what at a website. It is over before the list is read again: a row that goes
 * with it can still say so.
 */
const usePeopleMutation = <Input, Output>(websiteId: string, mutationFn: (input: Input) => PromiseLike<Output>) => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (input: Input) => mutationFn(input),
    onSettled: () => void client.invalidateQueries({ queryKey: websiteKeys.website(websiteId) }),
  });
};

const { clients, invitations } = doorstep.websites;

export const useAdd = (websiteId: string) =>
  usePeopleMutation(websiteId, (asked: AddClientRequest) => clients.add(websiteId, asked));

/** Under way until the list has the new role. */
export const useSetRole = (websiteId: string) => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ clientId, role }: Pick<WebsiteClientLink, 'clientId' | 'role'>) => clients.setRole(websiteId, clientId, role),
    onSettled: () => client.invalidateQueries({ queryKey: peopleKeys.all(websiteId) }),
  });
};

export const useRemove = (websiteId: string) =>
  usePeopleMutation(websiteId, (clientId: string) => clients.remove(websiteId, clientId));

export const useUndoRemove = (websiteId: string) =>
  usePeopleMutation(websiteId, (clientId: string) => clients.undoRemove(websiteId, clientId));

export const useResend = (websiteId: string) =>
  usePeopleMutation(websiteId, (invitationId: string) => invitations.resend(websiteId, invitationId));

export const useRevokeInvitation = (websiteId: string) =>
  usePeopleMutation(websiteId, (invitationId: string) => invitations.revoke(websiteId, invitationId));
