import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { paletteKeys } from './keys.js';

/** Websites, and for admins people, that some letters fit. */
export const searchQuery = (q: string) =>
  queryOptions({
    queryKey: paletteKeys.search(q),
    queryFn: ({ signal }) => doorstep.search(q, { signal }),
    enabled: q !== '',
    placeholderData: keepPreviousData,
  });
