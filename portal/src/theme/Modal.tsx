import '@mantine/core/styles/CloseButton.layer.css';
import '@mantine/core/styles/UnstyledButton.layer.css';
import '@mantine/core/styles/Overlay.layer.css';
import '@mantine/core/styles/ScrollArea.layer.css';
import '@mantine/core/styles/Paper.layer.css';
import '@mantine/core/styles/ModalBase.layer.css';
import '@mantine/core/styles/Modal.layer.css';
import { Modal as MantineModal, type ModalProps } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import type { ReactNode } from 'react';

/** A dialog. Escape is not for it while a dialog of the browser's lies over it, as the palette does. */
export const Modal = (props: Omit<ModalProps, 'closeOnEscape'>): ReactNode => {
  const { opened, onClose } = props;
  // On the window, because a button that is disabled while it sends loses the focus, and the dialog with it.
  useWindowEvent(
    'keydown',
    (event) => {
      if (!opened || event.key !== 'Escape' || event.isComposing) return;
      if (document.querySelector('dialog[open]') !== null) return;
      // So Mantine marks a field whose list is open: the key closes that.
      if (event.target instanceof Element && event.target.getAttribute('data-mantine-stop-propagation') === 'true') return;
      // A browser would close a dialog of its own that opens now with this key.
      event.preventDefault();
      onClose();
    },
    { capture: true },
  );
  return <MantineModal {...props} closeOnEscape={false} />;
};
