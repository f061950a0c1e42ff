import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { pathTo } from '../../../paths.js';
import classes from '../delivery.module.css';
import type { Editor } from '../useEditor.js';

/** "Saved · Undo": what was done here last can be taken back with one press, until somebody saves after it. */
export const SavedMark = ({
  editor: { block, last, undo },
  mayWrite,
}: {
  readonly editor: Editor;
  readonly mayWrite: boolean;
}): ReactNode => {
  const { t } = useTranslation();
  return (
    <p className={`small muted ${classes['saved'] ?? ''}`}>
      {last !== undefined && mayWrite && (
        <>
          {t(last.isUndo ? 'delivery.undone' : 'delivery.saved')} ·{' '}
          <button type="button" className={classes['textButton']} onClick={() => void undo(last.revision)}>
            {t(last.isUndo ? 'delivery.redo' : 'common.undo')}
          </button>{' '}
          ·{' '}
        </>
      )}
      <Link to={pathTo('history', { websiteId: block.websiteId })}>{t('titles.history')}</Link>
    </p>
  );
};
