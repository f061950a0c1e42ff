import { useQuery } from '@tanstack/react-query';
import { templatesQuery } from '../newWebsite/queries.js';
import { websiteQuery } from '../website/queries.js';
import type { Collection } from './keys.js';

interface Editable {
  /** A JSON Schema; null: nothing is declared. */
  readonly data: unknown;
  readonly isPending: boolean;
}

/** What the template of a website declares of the documents of its site; it declares none of the others. */
export const useEditable = (websiteId: string, of: Collection): Editable => {
  const enabled = of === 'content';
  const website = useQuery({ ...websiteQuery(websiteId), enabled });
  const templates = useQuery({ ...templatesQuery, enabled });
  if (!enabled) return { data: null, isPending: false };
  if (website.data === undefined || templates.data === undefined)
    // What failed is asked again: the form, and what was typed into it, stays meanwhile.
    return { data: undefined, isPending: !website.isFetched || !templates.isFetched };
  return { data: templates.data.find(({ id }) => id === website.data.templateId)?.editable ?? null, isPending: false };
};
