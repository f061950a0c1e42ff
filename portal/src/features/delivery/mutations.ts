import { useMutation, useQueryClient, type QueryClient, type UseMutationResult } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { isStale } from '../../api/isStale.js';
import { toSaved } from '../../api/saved.js';
import { websiteKeys } from '../website/keys.js';
import { deliveryKeys } from './keys.js';
import { savedDeliveryQuery, type SavedDelivery } from './queries.js';
import { after, conflictsOf, requestFor, type Operation } from './steps.js';

/** Somebody else changed what is edited here: which of both is kept is for a person to say. */
export class EditConflict extends Error {
  static {
    this.prototype.name = 'EditConflict';
  }
}

/** Others may save several times while one writes; more often is no coincidence. */
const maxAttempts = 4;

/** The block as the service has it now. */
const reread = async (client: QueryClient, websiteId: string): Promise<SavedDelivery> => {
  const query = savedDeliveryQuery(websiteId);
  await client.cancelQueries({ queryKey: query.queryKey });
  return client.query({ ...query, staleTime: 0 });
};

/** Replaces the block that was read; when somebody was faster, the change is made again on theirs. */
const replace = async (client: QueryClient, websiteId: string, operation: Operation): Promise<SavedDelivery> => {
  const why =
    operation.type === 'edit' && operation.reason.trim() !== ''
      ? { reason: operation.reason.trim(), reasonVisible: operation.reasonVisible }
      : {};
  let saved = await client.query({ ...savedDeliveryQuery(websiteId), staleTime: 'static' });
  for (let attempt = 1; ; attempt += 1) {
    if (operation.type === 'edit' && conflictsOf(operation.draft, saved.data).length > 0) throw new EditConflict();
    const body = { ...requestFor(after(saved.data, operation)), ...why };
    try {
      return toSaved(await doorstep.websites.delivery.replace(websiteId, body, { ifMatch: saved.tag }).withResponse());
    } catch (error) {
      if (!isStale(error) || attempt === maxAttempts) throw error;
      saved = await reread(client, websiteId);
    }
  }
};

const write = async (client: QueryClient, websiteId: string, operation: Operation): Promise<SavedDelivery> => {
  if (operation.type !== 'setStatus') return replace(client, websiteId, operation);
  const { stepId, status } = operation;
  return toSaved(await doorstep.websites.delivery.setCheckpointStatus(websiteId, stepId, status).withResponse());
};

/** What every write of a block does: one after the other, and what is shown stays until the answer is there. */
const writeOptions = (client: QueryClient, websiteId: string) => ({
  mutationKey: deliveryKeys.write(websiteId),
  scope: { id: `delivery-${websiteId}` },
  // An answer to an earlier question must not replace what this one leads to.
  onMutate: () => client.cancelQueries({ queryKey: deliveryKeys.block(websiteId) }),
  onSuccess: async (saved: SavedDelivery) => {
    await client.cancelQueries({ queryKey: deliveryKeys.saved(websiteId) });
    client.setQueryData(deliveryKeys.saved(websiteId), saved);
  },
  onSettled: () => {
    if (client.isMutating({ mutationKey: deliveryKeys.write(websiteId) }) > 1) return;
    void client.invalidateQueries({ queryKey: deliveryKeys.block(websiteId) });
    void client.invalidateQueries({ queryKey: websiteKeys.lists });
  },
});

/** Changes the block. Rejects with `EditConflict` when others changed the same meanwhile. */
export const useDeliveryWrite = (websiteId: string): UseMutationResult<SavedDelivery, Error, Operation> => {
  const client = useQueryClient();
  return useMutation({
    ...writeOptions(client, websiteId),
    mutationFn: (operation: Operation) => write(client, websiteId, operation),
  });
};

interface Undo {
  readonly revision: number;
  /** Of the block from which it is taken back. Undefined: of the one that the page shows. */
  readonly tag?: string | undefined;
}

/** Takes a change back, and all after it. Refused when somebody saved meanwhile. */
export const useDeliveryUndo = (websiteId: string): UseMutationResult<SavedDelivery, Error, Undo> => {
  const client = useQueryClient();
  return useMutation({
    ...writeOptions(client, websiteId),
    mutationFn: async ({ revision, tag }: Undo) => {
      const ifMatch = tag ?? (await client.query({ ...savedDeliveryQuery(websiteId), staleTime: 'static' })).tag;
      return toSaved(await doorstep.websites.delivery.undo(websiteId, revision, { ifMatch }).withResponse());
    },
  });
};

/** Sets the block up, with the usual steps and a day in a month. */
export const useDeliverySetUp = (websiteId: string): UseMutationResult<SavedDelivery, Error, void> => {
  const client = useQueryClient();
  return useMutation({
    ...writeOptions(client, websiteId),
    mutationFn: async () => toSaved(await doorstep.websites.delivery.replace(websiteId, {}).withResponse()),
  });
};
