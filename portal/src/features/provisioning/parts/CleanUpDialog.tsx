import type { ProvisioningJob } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../../ui/ConfirmDialog.js';
import { useCleanUp } from '../mutations.js';

interface CleanUpDialogProps {
  readonly job: ProvisioningJob;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Names what is removed before it is. */
export const CleanUpDialog = ({ job: { websiteId, remains = [] }, opened, onClose }: CleanUpDialogProps): ReactNode => {
  const { t } = useTranslation();
  const cleanUp = useCleanUp(websiteId);
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={t('provisioning.cleanUp.title')}
      action={t('provisioning.cleanUp.action')}
      pending={cleanUp.isPending}
      error={cleanUp.error}
      onConfirm={() => cleanUp.mutate(undefined, { onSuccess: onClose })}
    >
      <p>{t('provisioning.cleanUp.text')}</p>
      <ul>
        {remains.map(({ kind, name, id, certain }) => (
          <li key={`${kind} ${id ?? ''}`}>
            {t(`provisioning.kinds.${kind}`)} <code>{name ?? id ?? '?'}</code>
            {!certain && ` ${t('provisioning.cleanUp.uncertain')}`}
          </li>
        ))}
      </ul>
    </ConfirmDialog>
  );
};
