import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../theme/Button.js';
import { FaultLine } from './FaultLine.js';
import classes from './SaveBar.module.css';
import { useLeaveGuard } from './leaving.js';

interface SaveBarProps {
  /** Whether something is not saved. The bar stands there only then, and leaving the page asks first. */
  readonly dirty: boolean;
  readonly saving?: boolean;
  /** Why it was not saved. */
  readonly error?: unknown;
  readonly onSave: () => unknown;
  readonly onDiscard: () => void;
}

/** What stands at the bottom of a form that was changed: save, or go back to what was. */
export const SaveBar = ({ dirty, saving = false, error, onSave, onDiscard }: SaveBarProps): ReactNode => {
  const { t } = useTranslation();
  useLeaveGuard(dirty);
  if (!dirty) return null;
  return (
    <div className={classes['bar']} role="region" aria-label={t('ui.unsaved')}>
      <div className={classes['words']}>
        {error === null || error === undefined ? t('ui.unsaved') : <FaultLine error={error} />}
      </div>
      <Button onClick={onDiscard} disabled={saving}>
        {t('ui.discard')}
      </Button>
      <Button variant="filled" onClick={() => onSave()} loading={saving}>
        {t('common.save')}
      </Button>
    </div>
  );
};
