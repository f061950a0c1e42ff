import type { ArrangeBlueprintRequest, AttachServiceRequest, ChangeWebsiteRequest } from '@doorstep/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { websiteKeys } from '../website/keys.js';
import { settingsKeys } from './keys.js';

/** A change of a website; afterwards everything that is shown of it is asked anew. */
const useChange = <Input, Result>(change: (input: Input) => Promise<Result>) => {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => queryClient.invalidateQueries({ queryKey: websiteKeys.all }),
  });
};

export const useUpdateWebsite = (id: string) => useChange((body: ChangeWebsiteRequest) => doorstep.websites.update(id, body));
export const useRedeploy = (id: string) => useChange(() => doorstep.websites.redeploy(id));
export const useArchive = (id: string) => useChange(() => doorstep.websites.archive(id));
export const useRestore = (id: string) => useChange(() => doorstep.websites.restore(id));

/** Deletes an archived website for good, in 30 days. */
export const useDelete = (id: string) =>
  useChange(({ confirm, keep }: { confirm: string; keep: readonly string[] }) =>
    doorstep.websites.delete(id, { confirm, ...(keep.length > 0 && { keep: keep.join(',') }) }),
  );

export const useAddDomain = (id: string) => useChange((domain: string) => doorstep.websites.domains.add(id, domain));
export const useVerifyDomain = (id: string) => useChange((domain: string) => doorstep.websites.domains.verify(id, domain));
export const useRemoveDomain = (id: string) => useChange((domain: string) => doorstep.websites.domains.remove(id, domain));

export const useAttachService = (id: string) =>
  useChange((body: AttachServiceRequest) => doorstep.websites.services.attach(id, body));
export const useDetachService = (id: string) =>
  useChange((serviceId: string) => doorstep.websites.services.detach(id, serviceId));

export const useArrange = (id: string) => {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: ArrangeBlueprintRequest) => doorstep.websites.blueprint.replace(id, body),
    onSuccess: (blueprint) => queryClient.setQueryData(settingsKeys.blueprint(id), blueprint),
  });
};
