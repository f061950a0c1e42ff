import { DoorstepError } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../../ui/ConfirmDialog.js';
import { useNotice } from '../../../ui/notices.js';
import { useDeliveryUndo } from '../mutations.js';
import { savedDeliveryQuery } from '../queries.js';

interface UndoDialogProps {
  readonly websiteId: string;
  readonly revision: number;
  /** How many changes came after it: they are taken back with it. */
  readonly after: number;
  readonly onClose: () => void;
}

/** Asks before a change is taken back, because those after it go with it. */
export const UndoDialog = ({ websiteId, revision, after, onClose }: UndoDialogProps): ReactNode => {
  const { t } = useTranslation();
  const notify = useNotice();
  // Kept current while the question stands: what is taken back is what the page shows.
  useQuery(savedDeliveryQuery(websiteId));
  const { mutate: undo, isPending, error } = useDeliveryUndo(websiteId);
  const isStale = error instanceof DoorstepError && error.code === 'stale';
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={t('history.undoTitle')}
      action={t('history.undo')}
      pending={isPending}
      error={isStale ? null : error}
      onConfirm={() =>
        undo(revision, {
          onSuccess: ({ block }) => {
            notify({ words: t('history.undone'), undo: () => undo(block.revision) });
            onClose();
          },
        })
      }
    >
      <p>{after === 0 ? t('history.undoLast') : t('history.undoWithLater', { count: after })}</p>
      <p className="muted">{t('history.undoIsAChange')}</p>
      {isStale && <p role="alert">{t('history.undoStale')}</p>}
    </ConfirmDialog>
  );
};
