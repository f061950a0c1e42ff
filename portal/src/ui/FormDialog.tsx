import { useWindowEvent } from '@mantine/hooks';
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
  // On the window, because a button that is disabled while it sends loses the focus, and the dialog with it.
  useWindowEvent(
    'keydown',
    (event) => {
      if (!dirty || event.key !== 'Escape' || event.isComposing) return;
      // A dialog of the browser's lies over this one, as the question does.
      if (document.querySelector('dialog[open]') !== null) return;
      // A browser would close the question with the key that it came by.
      event.preventDefault();
      setAsking(true);
    },
    { capture: true },
  );
  return (
    <>
      <Modal
        {...dialog}
        opened
        onClose={() => {
          if (dirty) setAsking(true);
          else onClose();
        }}
        closeOnEscape={!dirty}
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
