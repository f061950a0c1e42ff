import type { Website } from '@doorstep/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { doorstep } from '../../api/doorstep.js';
import { useNotice } from '../../ui/notices.js';
import { websiteKeys } from '../website/keys.js';

/** Archives a website, or brings it back; each can be undone by the other. */
export const useArchiving = () => {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  const notify = useNotice();
  const put = ({ id }: Website, archived: boolean): Promise<Website> =>
    archived ? doorstep.websites.archive(id) : doorstep.websites.restore(id);
  const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey: websiteKeys.all });

  const undo = useMutation({
    mutationFn: ({ website, archived }: { website: Website; archived: boolean }) => put(website, !archived),
    onSuccess: refresh,
  });
  return useMutation({
    mutationFn: ({ website, archived }: { website: Website; archived: boolean }) => put(website, archived),
    onSuccess: (_, change) => {
      const words = t(change.archived ? 'websites.archived' : 'websites.restored', { name: change.website.name });
      notify({ words, undo: () => undo.mutateAsync(change) });
      return refresh();
    },
    // The menu in which it was chosen is closed.
    onError: (error) => notify({ error }),
  });
};
