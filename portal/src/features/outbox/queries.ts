import { infiniteQueryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { byCursor, pageOf } from '../../api/pages.js';
import { outboxKeys } from './keys.js';

/** The mails that are stored here, to one recipient or to all, by pages. */
export const outboxQuery = (to = '') =>
  infiniteQueryOptions({
    ...byCursor,
    queryKey: outboxKeys.list(to),
    queryFn: ({ pageParam: cursor, signal }) =>
      pageOf(doorstep.outbox.list({ limit: 20, ...(to !== '' && { to }), ...(cursor !== undefined && { cursor }) }, { signal })),
    // A mail may come at any moment, and nothing reports it; but what was asked for while the page's code came is new, in ms.
    staleTime: 2_000,
  });
