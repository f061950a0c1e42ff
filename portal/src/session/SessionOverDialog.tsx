import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../theme/Button.js';
import { Modal } from '../theme/Modal.js';
import { signIn } from './session.js';

/** Asks to sign in again. */
const SessionOverDialog = ({ onClose }: { readonly onClose: () => void }): ReactNode => {
  const { t } = useTranslation();
  return (
    <Modal opened onClose={onClose} title={t('session.over')}>
      <p>{t('session.overText')}</p>
      <Button variant="filled" mt="md" onClick={() => void signIn()}>
        {t('session.signIn')}
      </Button>
    </Modal>
  );
};

export default SessionOverDialog;
