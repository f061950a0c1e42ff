import type { ContentDocument } from '@doorstep/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { deploymentKeys } from '../deployments/keys.js';
import { contentKeys, type Collection } from './keys.js';
import { collectionOf } from './queries.js';

export interface Place {
  readonly websiteId: string;
  readonly of: Collection;
  readonly documentId: string;
}

/** Takes over a document as it is now. */
const useTakeOver = ({ websiteId, of, documentId }: Place): ((document: ContentDocument) => void) => {
  const client = useQueryClient();
  return (document) => {
    client.setQueryData(contentKeys.document(websiteId, of, documentId), document);
    void client.invalidateQueries({ queryKey: contentKeys.list(websiteId, of) });
    void client.invalidateQueries({ queryKey: contentKeys.versions(websiteId, of, documentId) });
  };
};

/** Saves a document over the version that `baseHash` names. */
export const useSave = (place: Place) => {
  const takeOver = useTakeOver(place);
  return useMutation({
    mutationFn: (input: { readonly baseHash: string | null; readonly body: unknown }) =>
      collectionOf(place.of).save(place.websiteId, place.documentId, input),
    onSuccess: takeOver,
  });
};

/** Saves an earlier version again. */
export const useRestore = (place: Place) => {
  const takeOver = useTakeOver(place);
  return useMutation({
    mutationFn: (input: { readonly hash: string; readonly baseHash: string | null }) =>
      collectionOf(place.of).restore(place.websiteId, place.documentId, input),
    onSuccess: takeOver,
  });
};

/** A build is begun within the request. */
const buildTimeoutMs = 120_000;

/** Builds a draft of what is saved. */
export const usePreview = (websiteId: string) =>
  useMutation({ mutationFn: () => doorstep.websites.content.preview(websiteId, { timeoutMs: buildTimeoutMs }) });

/** Puts what is saved onto the site. */
export const usePublish = (websiteId: string) => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => doorstep.websites.content.publish(websiteId, { timeoutMs: buildTimeoutMs }),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: contentKeys.collection(websiteId, 'content') }),
        client.invalidateQueries({ queryKey: deploymentKeys.list(websiteId) }),
      ]),
  });
};
