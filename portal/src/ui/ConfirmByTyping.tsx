import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { TextInput } from '../theme/TextInput.js';
import { ConfirmDialog, type ConfirmDialogProps } from './ConfirmDialog.js';

/** Asks for a word to be typed (a slug, an address) before something is done that cannot be undone. */
export const ConfirmByTyping = ({
  word,
  children,
  ...dialog
}: Omit<ConfirmDialogProps, 'disabled'> & { readonly word: string }): ReactNode => {
  const { t } = useTranslation();
  const [typed, setTyped] = useState('');
  return (
    <ConfirmDialog
      {...dialog}
      disabled={typed.trim() !== word}
      onClose={() => {
        setTyped('');
        dialog.onClose();
      }}
    >
      {children}
      <TextInput
        label={t('ui.typeToConfirm', { word })}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus
      />
    </ConfirmDialog>
  );
};
