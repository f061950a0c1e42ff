import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { isStale } from '../../../api/isStale.js';
import { ConfirmDialog } from '../../../ui/ConfirmDialog.js';
import { useNotice } from '../../../ui/notices.js';
import { useDeliveryUndo } from '../mutations.js';
import { savedDeliveryQuery } from '../queries.js';
import { useTakeBack } from '../useTakeBack.js';

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
  const takeBack = useTakeBack(websiteId);
  const isLate = isStale(error);
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={t('history.undoTitle')}
      action={t('history.undo')}
      pending={isPending}
      error={isLate ? null : error}
      onConfirm={() =>
        undo(
          { revision },
          {
            onSuccess: (written) => {
              notify({ words: t('history.undone'), undo: () => takeBack(written) });
              onClose();
            },
          },
        )
      }
    >
      <p>{after === 0 ? t('history.undoLast') : t('history.undoWithLater', { count: after })}</p>
      <p className="muted">{t('history.undoIsAChange')}</p>
      {isLate && <p role="alert">{t('history.undoStale')}</p>}
    </ConfirmDialog>
  );
};
