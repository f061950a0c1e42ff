import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../theme/Button.js';
import { Modal } from '../theme/Modal.js';
import classes from './ConfirmDialog.module.css';
import { FaultLine } from './FaultLine.js';

export interface ConfirmDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** The question: "Remove Anna from Corner Bakery?". */
  readonly title: string;
  /** What happens then, and what does not. */
  readonly children?: ReactNode;
  /** The deed, as a verb: "Remove". */
  readonly action: string;
  readonly onConfirm: () => unknown;
  /** While it is under way. */
  readonly pending?: boolean;
  /** Why it was not done. */
  readonly error?: unknown;
  /** Nothing can be confirmed yet. */
  readonly disabled?: boolean;
}

/** Asks before something is done that one would not want to happen by a slip. Its owner closes it when it is done. */
export const ConfirmDialog = ({
  opened,
  onClose,
  title,
  children,
  action,
  onConfirm,
  pending = false,
  error,
  disabled = false,
}: ConfirmDialogProps): ReactNode => {
  const { t } = useTranslation();
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <form
        className={classes['form']}
        onSubmit={(event) => {
          event.preventDefault();
          if (!disabled) onConfirm();
        }}
      >
        {children}
        <FaultLine error={error} />
        <div className={classes['actions']}>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" variant="filled" loading={pending} disabled={disabled}>
            {action}
          </Button>
        </div>
      </form>
    </Modal>
  );
};
