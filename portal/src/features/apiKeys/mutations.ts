import type { MintAPIKeyRequest } from '@doorstep/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { apiKeyKeys } from './keys.js';

export const useMint = () => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (asked: MintAPIKeyRequest) => doorstep.apiKeys.create(asked),
    onSuccess: () => client.invalidateQueries({ queryKey: apiKeyKeys.all }),
    // The token stands in the answer: it is not kept.
    gcTime: 0,
  });
};

export const useRevoke = () => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => doorstep.apiKeys.revoke(id),
    onSettled: () => client.invalidateQueries({ queryKey: apiKeyKeys.all }),
  });
};
