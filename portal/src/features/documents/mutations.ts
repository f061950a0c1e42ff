import type { Document, FileAddress } from '@doorstep/sdk';
import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { documentKeys } from './keys.js';

/** A fresh address of a file: to be saved. */
export const useDownload = (websiteId: string): UseMutationResult<FileAddress, Error, Document> =>
  useMutation({
    mutationFn: ({ id }: Document) => doorstep.websites.documents.url(websiteId, id, { disposition: 'attachment' }),
    onSuccess: ({ url }) => location.assign(url),
  });

/** Makes the list be read anew after a change of it. */
const useRefresh = (websiteId: string): (() => Promise<void>) => {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: documentKeys.list(websiteId) });
};

export const useRename = (websiteId: string, id: string): UseMutationResult<Document, Error, string> =>
  useMutation({
    mutationFn: (name: string) => doorstep.websites.documents.rename(websiteId, id, name),
    onSuccess: useRefresh(websiteId),
  });

export const useDelete = (websiteId: string): UseMutationResult<void, Error, Document> =>
  useMutation({
    mutationFn: ({ id }: Document) => doorstep.websites.documents.delete(websiteId, id),
    onSuccess: useRefresh(websiteId),
  });

export const useRestore = (websiteId: string): UseMutationResult<Document, Error, Document> =>
  useMutation({
    mutationFn: ({ id }: Document) => doorstep.websites.documents.undoDelete(websiteId, id),
    onSuccess: useRefresh(websiteId),
  });
