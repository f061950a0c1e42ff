import { DoorstepError } from '@doorstep/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ParseKeys } from 'i18next';
import { useEffect, useReducer, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { doorstepBy } from '../../api/doorstep.js';
import { sendWithProgress } from '../../api/sendWithProgress.js';
import { useAnnounce } from '../../ui/Announcer.js';
import { useNotice } from '../../ui/notices.js';
import { documentKeys } from './keys.js';

/** A file on its way. */
export interface Upload {
  readonly key: number;
  readonly name: string;
  /** How much of it was sent, 0 to 1. */
  readonly share: number;
  /** Why it was not taken. */
  readonly error?: unknown;
}

/** What one file may hold, in bytes. */
const maxBytes = 100 * 1024 * 1024;

/** A file that is larger than the service takes: it is not sent at all. */
class TooLarge extends Error {}

/** Why a file was not taken, where there are words of its own for it. */
export const uploadFault = (error: unknown): ParseKeys | undefined => {
  if (error instanceof TooLarge) return 'documents.tooLarge';
  if (!(error instanceof DoorstepError)) return undefined;
  if (error.status === 413) return 'documents.tooLarge';
  return error.code === 'storage_limit_reached' ? 'documents.storageFull' : undefined;
};

type Change = { readonly key: number } & ({ readonly upload: Partial<Upload> } | { readonly upload: null });

const changed = (uploads: readonly Upload[], { key, upload }: Change): readonly Upload[] => {
  if (upload === null) return uploads.filter((one) => one.key !== key);
  if (!uploads.some((one) => one.key === key)) return [...uploads, { key, name: '', share: 0, ...upload }];
  return uploads.map((one) => (one.key === key ? { ...one, ...upload } : one));
};

/** Files that have not arrived, of all pages: the uploads go on when their page is left. */
let pending = 0;

const askBeforeUnload = (event: BeforeUnloadEvent): void => event.preventDefault();

/** While there are any, closing the tab asks first. */
const countPending = (change: 1 | -1): void => {
  pending += change;
  if (pending > 0) window.addEventListener('beforeunload', askBeforeUnload);
  else window.removeEventListener('beforeunload', askBeforeUnload);
};

interface Uploads {
  /** Those under way, and those that were not taken. */
  readonly uploads: readonly Upload[];
  readonly add: (files: readonly File[]) => void;
  /** Takes one that failed off the list. */
  readonly forget: (key: number) => void;
}

/** Files on their way to the documents of a website, one after the other. */
export const useUploads = (websiteId: string): Uploads => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const notify = useNotice();
  const queries = useQueryClient();
  const [uploads, change] = useReducer(changed, []);
  const last = useRef(Promise.resolve());
  const nextKey = useRef(0);

  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  const { mutateAsync: send } = useMutation({
    mutationFn: async ({ key, file }: { readonly key: number; readonly file: File }) => {
      if (file.size > maxBytes) throw new TooLarge();
      const service = doorstepBy(sendWithProgress((share) => change({ key, upload: { share } })));
      await service.websites.documents.upload(websiteId, { file });
    },
    onSuccess: async (_, { key, file: { name } }) => {
      await queries.invalidateQueries({ queryKey: documentKeys.list(websiteId) });
      change({ key, upload: null });
      announce(t('documents.uploaded', { name }));
    },
    onError: (error, { key, file: { name } }) => {
      change({ key, upload: { error } });
      // No row is left to say it.
      if (isShown.current) return;
      const fault = uploadFault(error);
      notify({ words: [t('documents.notUploaded', { name }), ...(fault === undefined ? [] : [t(fault)])].join(' ') });
    },
  });

  const add = (files: readonly File[]): void => {
    for (const file of files) {
      const key = nextKey.current++;
      change({ key, upload: { name: file.name } });
      countPending(1);
      // Not by the scope of a mutation: that waits while the window is hidden.
      last.current = last.current
        .then(() => send({ key, file }))
        .catch(() => undefined)
        .finally(() => countPending(-1));
    }
  };
  return { uploads, add, forget: (key) => change({ key, upload: null }) };
};
