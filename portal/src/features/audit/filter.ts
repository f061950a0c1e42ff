import type { ListAuditQuery } from '@doorstep/sdk';

/** What is asked of the audit; it stands in the address. */
export type AuditFilter = Pick<ListAuditQuery, 'websiteId' | 'actor' | 'from' | 'to'> & { readonly sort?: 'at' };

export const auditFilterIn = (search: URLSearchParams): AuditFilter => {
  const read = (name: string): string | undefined => search.get(name) ?? undefined;
  const [websiteId, actor, from, to] = ['websiteId', 'actor', 'from', 'to'].map(read);
  return {
    ...(websiteId !== undefined && { websiteId }),
    ...(actor !== undefined && { actor }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(search.get('sort') === 'at' && { sort: 'at' }),
  };
};
