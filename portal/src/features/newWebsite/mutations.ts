import type { CreateWebsiteRequest } from '@doorstep/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { websiteKeys } from '../website/keys.js';

export const useCreateWebsite = () => {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: CreateWebsiteRequest) => doorstep.websites.create(body),
    onSuccess: (website) => {
      queryClient.setQueryData(websiteKeys.website(website.id), website);
      return queryClient.invalidateQueries({ queryKey: websiteKeys.list({}) });
    },
  });
};
