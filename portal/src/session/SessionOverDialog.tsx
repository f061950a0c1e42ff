import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { buttonLook } from '../ui/buttonLook.js';
import { forgetUnsaved } from '../ui/leaving.js';
import { NativeDialog } from '../ui/NativeDialog.js';
import { signInBeside } from './beside.js';
import { signIn } from './session.js';

/**
 * Asks to sign in again, in a window of its own: what stands on the page is kept, and what could not be
 * asked is asked again.
 */
export const SessionOverDialog = ({ onClose }: { readonly onClose: () => void }): ReactNode => {
  const { t } = useTranslation();
  const client = useQueryClient();
  const dialog = useRef<HTMLDialogElement>(null);
  const [isBlocked, setBlocked] = useState(false);
  const begin = (): void => {
    const isOpened = signInBeside((isSamePerson) => {
      // Somebody else gets nothing of what stands here.
      if (!isSamePerson) {
        forgetUnsaved();
        location.reload();
        return;
      }
      dialog.current?.close();
      void client.invalidateQueries();
    });
    setBlocked(!isOpened);
  };
  return (
    <NativeDialog
      dialog={dialog}
      title={t('session.over')}
      onClose={onClose}
      actions={
        <>
          <button type="button" className={buttonLook()} onClick={() => dialog.current?.close()}>
            {t('common.close')}
          </button>
          <button type="button" className={buttonLook('primary')} autoFocus onClick={isBlocked ? () => void signIn() : begin}>
            {t(isBlocked ? 'session.signInHere' : 'session.signIn')}
          </button>
        </>
      }
    >
      <p>{t(isBlocked ? 'session.blocked' : 'session.overKept')}</p>
    </NativeDialog>
  );
};
