import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../theme/Button.js';
import { Modal } from '../theme/Modal.js';
import { signInBeside } from './beside.js';
import { signIn } from './session.js';

/**
 * Asks to sign in again, in a window of its own: what stands on the page is kept, and what could not be
 * asked is asked again.
 */
const SessionOverDialog = ({ onClose }: { readonly onClose: () => void }): ReactNode => {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [isBlocked, setBlocked] = useState(false);
  const begin = (): void => {
    const isOpened = signInBeside((isSamePerson) => {
      // Somebody else gets nothing of what stands here.
      if (!isSamePerson) {
        location.reload();
        return;
      }
      onClose();
      void client.invalidateQueries();
    });
    setBlocked(!isOpened);
  };
  return (
    <Modal opened onClose={onClose} title={t('session.over')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <p>{t(isBlocked ? 'session.blocked' : 'session.overKept')}</p>
      <Button variant="filled" mt="md" onClick={isBlocked ? () => void signIn() : begin}>
        {t(isBlocked ? 'session.signInHere' : 'session.signIn')}
      </Button>
    </Modal>
  );
};

export default SessionOverDialog;
