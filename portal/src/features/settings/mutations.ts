import type { AttachServiceRequest, Blueprint, ChangeWebsiteRequest, Website } from '@doorstep/sdk';
import { useMutation, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { isStale } from '../../api/isStale.js';
import { toSaved, type Saved } from '../../api/saved.js';
import { websiteKeys } from '../website/keys.js';
import { blueprintQuery } from './queries.js';

/**
 * A change of a website; afterwards everything that is shown of it is asked anew. Nobody waits for
 * that: what is said of the change must not get lost with the part of the page that it takes away.
 */
const useChange = <Input, Result>(
  change: (input: Input) => Promise<Result>,
  onDone?: (queryClient: QueryClient, result: Result) => void,
) => {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (result) => {
      onDone?.(queryClient, result);
      void queryClient.invalidateQueries({ queryKey: websiteKeys.all });
    },
  });
};

const keep = (queryClient: QueryClient, website: Website): void => {
  queryClient.setQueryData(websiteKeys.website(website.id), website);
};

export const useUpdateWebsite = (id: string) =>
  useChange((body: ChangeWebsiteRequest) => doorstep.websites.update(id, body), keep);
export const useArchive = (id: string) => useChange(() => doorstep.websites.archive(id), keep);
export const useRestore = (id: string) => useChange(() => doorstep.websites.restore(id), keep);

/** Deletes an archived website for good, in 30 days; of one that waits for that, changes what stays. */
export const useDelete = (id: string) =>
  useChange(
    ({ confirm, kept }: { confirm: string; kept: readonly string[] }) =>
      doorstep.websites.delete(id, { confirm, keep: kept.join(',') }),
    keep,
  );

export const useAddDomain = (id: string) => useChange((domain: string) => doorstep.websites.domains.add(id, domain));
export const useVerifyDomain = (id: string) => useChange((domain: string) => doorstep.websites.domains.verify(id, domain));
export const useRemoveDomain = (id: string) => useChange((domain: string) => doorstep.websites.domains.remove(id, domain));

export const useAttachService = (id: string) =>
  useChange((body: AttachServiceRequest) => doorstep.websites.services.attach(id, body));
export const useDetachService = (id: string) =>
  useChange((serviceId: string) => doorstep.websites.services.detach(id, serviceId));

/** Where somebody has put nodes, by their ids. */
export type Moved = Readonly<Partial<Record<string, { readonly x: number; readonly y: number }>>>;

/** Others may save several times meanwhile; more often is no coincidence. */
const maxAttempts = 4;

/** Moves nodes; when somebody else was faster, on their map, so that what they moved stays there. */
const arrange = async (queryClient: QueryClient, websiteId: string, moved: Moved): Promise<Saved<Blueprint>> => {
  const query = blueprintQuery(websiteId);
  let { data: plan, tag } = await queryClient.query({ ...query, staleTime: 'static' });
  for (let attempt = 1; ; attempt += 1) {
    const nodes = plan.nodes.map(({ id, x, y }) => ({ id, x, y, ...moved[id] }));
    try {
      return toSaved(await doorstep.websites.blueprint.replace(websiteId, { nodes }, { ifMatch: tag }).withResponse());
    } catch (error) {
      if (!isStale(error) || attempt === maxAttempts) throw error;
      await queryClient.cancelQueries({ queryKey: query.queryKey });
      ({ data: plan, tag } = await queryClient.query({ ...query, staleTime: 0 }));
    }
  }
};

export const useArrange = (id: string) => {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (moved: Moved) => arrange(queryClient, id, moved),
    onSuccess: (saved) => queryClient.setQueryData(blueprintQuery(id).queryKey, saved),
  });
};
