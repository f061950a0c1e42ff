import { useState, type ComponentProps, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Modal } from '../theme/Modal.js';
import { useLeaveGuard } from './leaving.js';
import { LeaveDialog } from './router/LeaveDialog.js';

interface FormDialogProps extends Omit<ComponentProps<typeof Modal>, 'opened' | 'closeButtonProps'> {
  /** Whether something in the form is not saved. */
  readonly dirty: boolean;
}

/** A form in a dialog. Escape, a click outside and leaving the page ask first while something in it is not saved. */
export const FormDialog = ({ dirty, onClose, children, ...dialog }: FormDialogProps): ReactNode => {
  const { t } = useTranslation();
  const [isAsking, setAsking] = useState(false);
  // What was asked about is saved.
  if (isAsking && !dirty) setAsking(false);
  useLeaveGuard(dirty);
  return (
    <>
      <Modal
        {...dialog}
        opened
        onClose={() => {
          if (dirty) setAsking(true);
          else onClose();
        }}
        closeButtonProps={{ 'aria-label': t('common.close') }}
      >
        {children}
      </Modal>
      {isAsking && (
        <LeaveDialog
          onStay={() => setAsking(false)}
          onLeave={() => {
            setAsking(false);
            onClose();
          }}
        />
      )}
    </>
  );
};
