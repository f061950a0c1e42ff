import { useMutation, useQueryClient } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { seoKeys } from './keys.js';

/** Has the website scanned; the scan goes on by itself. */
export const useScan = (websiteId: string) => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => doorstep.websites.seo.scan(websiteId),
    onSettled: () => client.invalidateQueries({ queryKey: seoKeys.report(websiteId) }),
  });
};
