import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from '../delivery.module.css';
import type { Editor } from '../useEditor.js';

/** "Saved · Undo": what was done here last can be taken back with one press, until somebody saves after it. */
export const SavedMark = ({ editor: { last, isBusy, undo } }: { readonly editor: Editor }): ReactNode => {
  const { t } = useTranslation();
  if (last === undefined) return null;
  return (
    <p className="small muted">
      {t(last.isUndo ? 'delivery.undone' : 'delivery.saved')} ·{' '}
      <button
        type="button"
        className={classes['textButton']}
        // Not `disabled`, which would take the focus away.
        aria-disabled={isBusy}
        {...(!last.isUndo && { 'aria-keyshortcuts': 'Control+Z Meta+Z' })}
        onClick={() => void undo(last)}
      >
        {t(last.isUndo ? 'delivery.redo' : 'common.undo')}
      </button>
    </p>
  );
};
