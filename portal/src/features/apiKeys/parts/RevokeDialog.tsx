import type { APIKey } from '@doorstep/sdk';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../../ui/ConfirmDialog.js';
import forms from '../../../ui/forms.module.css';
import { useNotice } from '../../../ui/notices.js';
import { useRevoke } from '../mutations.js';

/** Every key that was minted with this one, or with one of those. */
const mintedWith = (id: string, all: readonly APIKey[]): readonly APIKey[] =>
  all.filter(({ parentId }) => parentId === id).flatMap((child) => [child, ...mintedWith(child.id, all)]);

interface RevokeDialogProps {
  readonly apiKey: APIKey;
  readonly all: readonly APIKey[];
  readonly onClose: () => void;
}

/** Asks before a key stops working, and says which others fall with it. */
export const RevokeDialog = ({ apiKey: { id, name }, all, onClose }: RevokeDialogProps): ReactNode => {
  const { t } = useTranslation();
  const notify = useNotice();
  const revoke = useRevoke();
  const falling = mintedWith(id, all);
  const confirm = (): void =>
    revoke.mutate(id, {
      onSuccess: () => {
        notify({ words: t('apiKeys.revoked', { name }) });
        onClose();
      },
    });
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={t('apiKeys.revokeTitle', { name })}
      action={t('apiKeys.revoke')}
      onConfirm={confirm}
      pending={revoke.isPending}
      error={revoke.error}
    >
      <p>{t('apiKeys.revokeText')}</p>
      {falling.length > 0 && (
        <>
          <p>{t('apiKeys.revokeFalling', { count: falling.length })}</p>
          <ul className={forms['list']}>
            {falling.map((key) => (
              <li key={key.id}>{key.name}</li>
            ))}
          </ul>
        </>
      )}
    </ConfirmDialog>
  );
};
