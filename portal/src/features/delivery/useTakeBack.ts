import { useNavigate } from 'react-router';
import { isStale } from '../../api/isStale.js';
import { pathTo } from '../../paths.js';
import { hasUnsaved } from '../../ui/leaving.js';
import { useDeliveryUndo } from './mutations.js';
import type { SavedDelivery } from './queries.js';

/**
 * Takes back what was saved. Once somebody has saved after it, theirs would go with it: the history
 * asks first then, and `null` is resolved to. It is another page: while something is not saved on this
 * one, that somebody was faster is the error.
 */
export const useTakeBack = (websiteId: string): ((written: SavedDelivery) => Promise<SavedDelivery | null>) => {
  const navigate = useNavigate();
  const { mutateAsync: undo } = useDeliveryUndo(websiteId);
  return async ({ data: { revision }, tag }) => {
    try {
      return await undo({ revision, tag });
    } catch (error) {
      if (!isStale(error) || hasUnsaved()) throw error;
      await navigate({ pathname: pathTo('history', { websiteId }), search: `?undo=${String(revision)}` });
      return null;
    }
  };
};
