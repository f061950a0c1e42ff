import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Themed } from '../../theme/Themed.js';
import { ConfirmDialog } from '../ConfirmDialog.js';

/** Asks before a page is left that holds something unsaved. */
const LeaveDialog = ({ onStay, onLeave }: { readonly onStay: () => void; readonly onLeave: () => void }): ReactNode => {
  const { t } = useTranslation();
  return (
    <Themed>
      <ConfirmDialog opened onClose={onStay} title={t('ui.leaveTitle')} action={t('ui.leave')} onConfirm={onLeave}>
        <p>{t('ui.leaveText')}</p>
      </ConfirmDialog>
    </Themed>
  );
};

export default LeaveDialog;
