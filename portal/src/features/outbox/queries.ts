import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { pageOf } from '../../api/pages.js';
import { outboxKeys } from './keys.js';

/** A page of the mails that are stored here, to one recipient or to all. */
export const outboxQuery = (to = '', cursor?: string) =>
  queryOptions({
    queryKey: outboxKeys.page(to, cursor),
    queryFn: ({ signal }) =>
      pageOf(doorstep.outbox.list({ limit: 20, ...(to !== '' && { to }), ...(cursor !== undefined && { cursor }) }, { signal })),
    // A mail may come at any moment, and nothing reports it.
    staleTime: 0,
  });
