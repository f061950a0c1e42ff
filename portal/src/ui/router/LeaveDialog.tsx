import { useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { buttonLook } from '../buttonLook.js';
import { NativeDialog } from '../NativeDialog.js';

/** Asks before a page is left that holds something unsaved. */
export const LeaveDialog = ({ onStay, onLeave }: { readonly onStay: () => void; readonly onLeave: () => void }): ReactNode => {
  const { t } = useTranslation();
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <NativeDialog
      dialog={dialog}
      title={t('ui.leaveTitle')}
      onClose={onStay}
      actions={
        <>
          <button type="button" className={buttonLook()} onClick={() => dialog.current?.close()}>
            {t('common.cancel')}
          </button>
          <button type="button" className={buttonLook('primary')} onClick={onLeave}>
            {t('ui.leave')}
          </button>
        </>
      }
    >
      <p>{t('ui.leaveText')}</p>
    </NativeDialog>
  );
};
