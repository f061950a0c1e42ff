import type { Media } from '@doorstep/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { doorstep, doorstepBy } from '../../api/doorstep.js';
import { sendWithProgress, type OnProgress } from '../../api/sendWithProgress.js';
import { mediaKeys } from './keys.js';

const useListed = (websiteId: string): { readonly onSettled: () => Promise<void> } => {
  const client = useQueryClient();
  return { onSettled: () => client.invalidateQueries({ queryKey: mediaKeys.list(websiteId) }) };
};

/** Large videos take their time. */
const uploadTimeoutMs = 900_000;

export interface Upload {
  readonly file: File;
  readonly alt: string;
  readonly onProgress: OnProgress;
  readonly signal: AbortSignal;
}

export const useUpload = (websiteId: string) =>
  useMutation({
    mutationFn: ({ file, alt, onProgress, signal }: Upload) =>
      doorstepBy(sendWithProgress(onProgress)).websites.media.upload(
        websiteId,
        { file, ...(alt !== '' && { alt }) },
        { signal, timeoutMs: uploadTimeoutMs, maxRetries: 0 },
      ),
    ...useListed(websiteId),
  });

/** Says what a picture shows. */
export const useDescribe = (websiteId: string) =>
  useMutation({
    mutationFn: ({ id, alt }: { readonly id: string; readonly alt: string | null }) =>
      doorstep.websites.media.describe(websiteId, id, alt),
    ...useListed(websiteId),
  });

export const useRemove = (websiteId: string) =>
  useMutation({
    mutationFn: ({ id }: Media) => doorstep.websites.media.delete(websiteId, id),
    ...useListed(websiteId),
  });

export const useUndoRemove = (websiteId: string) =>
  useMutation({
    mutationFn: ({ id }: Media) => doorstep.websites.media.undoDelete(websiteId, id),
    ...useListed(websiteId),
  });
