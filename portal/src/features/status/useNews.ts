import type { DeliveryBlock, VisibleDeliveryChange } from '@doorstep/sdk';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAnnounce } from '../../ui/Announcer.js';
import { useMayWrite } from '../../ui/useMayWrite.js';
import { useMe } from '../me/queries.js';
import { keepLook, readLook, type Look } from './looks.js';
import { useMarkSeen } from './mutations.js';
import { sentencesOf } from './sentences.js';

interface News {
  readonly sentences: readonly string[];
  /** When the reader last looked, ISO 8601 UTC, where it is known. */
  readonly since: string | undefined;
  readonly dismiss: () => void;
}

/** A look as of now. */
const lookAt = (revision: number): Look => ({ revision, at: new Date().toISOString() });

/**
 * What is new to the reader. It stays for this tab until they dismiss it, over reloads too; that they
 * looked is reported as soon as the page is really shown.
 * @param lastSeen the revision that they saw last, as `lastSeenQuery` says it
 * @param isArchived nothing is written about an archived website, not even who looks at it
 */
export const useNews = (
  { websiteId, revision, checkpoints }: DeliveryBlock,
  changes: readonly VisibleDeliveryChange[],
  lastSeen: number | null,
  isArchived: boolean,
): News => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const { subject } = useMe();
  const mayWrite = useMayWrite();
  const { mutate: markSeen } = useMarkSeen(websiteId);
  const [since, setSince] = useState<Look>(() => {
    const inTab = mayWrite ? readLook(sessionStorage, websiteId, subject) : undefined;
    if (inTab !== undefined) return inTab;
    const before = mayWrite ? readLook(localStorage, websiteId, subject) : undefined;
    const seen = lastSeen ?? before?.revision ?? revision;
    // At the first look nothing is new, because all of it is.
    return seen < 0 || seen >= revision ? lookAt(revision) : { ...before, revision: seen };
  });

  useEffect(() => {
    if (!mayWrite) return undefined;
    const look = (): void => {
      if (document.visibilityState !== 'visible') return;
      keepLook(sessionStorage, websiteId, subject, since);
      keepLook(localStorage, websiteId, subject, lookAt(revision));
      if (!isArchived) markSeen(revision);
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [mayWrite, isArchived, websiteId, subject, since, revision, markSeen]);

  // What comes while the page is open is said aloud.
  const newest = changes[0]?.revision ?? revision;
  const announced = useRef(newest);
  useEffect(() => {
    const unheard = changes.filter((change) => change.revision > announced.current);
    // Not the revision of the block: where its answer comes first, the change would go unheard.
    announced.current = Math.max(announced.current, changes[0]?.revision ?? 0);
    if (unheard.length > 0) announce(sentencesOf(t, unheard, checkpoints).join(' '));
  }, [announce, changes, checkpoints, t]);

  const unseen = changes.filter((change) => change.revision > since.revision);
  return {
    sentences: sentencesOf(t, unseen, checkpoints),
    since: since.at,
    dismiss: () => setSince(lookAt(newest)),
  };
};
