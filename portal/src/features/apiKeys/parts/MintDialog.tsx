import type { AccountRole, MintedAPIKey, TokenScope } from '@doorstep/sdk';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { NativeSelect } from '../../../theme/NativeSelect.js';
import { Radio } from '../../../theme/Radio.js';
import { TextInput } from '../../../theme/TextInput.js';
import { CopyField } from '../../../ui/CopyField.js';
import { fieldErrors } from '../../../ui/fieldErrors.js';
import { FormDialog } from '../../../ui/FormDialog.js';
import forms from '../../../ui/forms.module.css';
import { FaultLine } from '../../../ui/FaultLine.js';
import { useLeaveGuard } from '../../../ui/leaving.js';
import { useMe } from '../../me/queries.js';
import { useMint } from '../mutations.js';

const days = ['7', '30', '90', '365'] as const;
const noEnd = 'none';

const inDays = (count: string): string => new Date(Date.now() + Number(count) * 86_400_000).toISOString();

interface MintDialogProps {
  readonly onClose: () => void;
  /** A call with the token. */
  readonly example: (token: string) => string;
}

/** Makes a key, and shows it once. */
export const MintDialog = ({ onClose, example }: MintDialogProps): ReactNode => {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const [minted, setMinted] = useState<MintedAPIKey | null>(null);
  const [isCopied, setCopied] = useState(false);
  const [isAsking, setAsking] = useState(false);
  useLeaveGuard(minted !== null && !isCopied);
  const close = (): void => {
    if (minted === null || isCopied || isAsking) onClose();
    else setAsking(true);
  };
  return (
    <FormDialog
      dirty={minted === null && name.trim() !== ''}
      onClose={close}
      title={minted === null ? t('apiKeys.mintTitle') : t('apiKeys.mintedTitle', { name: minted.name })}
      closeOnClickOutside={minted === null}
    >
      {minted === null ? (
        <MintForm name={name} onName={setName} onMinted={setMinted} onCancel={onClose} />
      ) : (
        <div className={forms['form']}>
          <p>{t('apiKeys.mintedText')}</p>
          <CopyField label={t('apiKeys.token')} value={minted.token} onCopied={() => setCopied(true)} />
          <CopyField label={t('apiKeys.exampleLabel')} value={example(minted.token)} onCopied={() => setCopied(true)} />
          {isAsking && !isCopied && <p role="alert">{t('apiKeys.notCopied')}</p>}
          <div className={forms['actions']}>
            {isAsking && !isCopied ? (
              <Button onClick={onClose}>{t('apiKeys.closeAnyway')}</Button>
            ) : (
              <Button variant="filled" onClick={close}>
                {t('apiKeys.done')}
              </Button>
            )}
          </div>
        </div>
      )}
    </FormDialog>
  );
};

const MintForm = ({
  name,
  onName,
  onMinted,
  onCancel,
}: {
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly onMinted: (key: MintedAPIKey) => void;
  readonly onCancel: () => void;
}): ReactNode => {
  const { t } = useTranslation();
  const { role: own } = useMe();
  const mint = useMint();
  const [scope, setScope] = useState<TokenScope>('read');
  const [role, setRole] = useState<AccountRole>(own);
  const [end, setEnd] = useState<string>('90');
  const errors = fieldErrors(mint.error);
  const hasFieldError = Object.keys(errors).length > 0;
  return (
    <form
      className={forms['form']}
      onSubmit={(event) => {
        event.preventDefault();
        mint.mutate({ name, scope, role, ...(end !== noEnd && { expiresAt: inDays(end) }) }, { onSuccess: onMinted });
      }}
    >
      <TextInput
        label={t('apiKeys.name')}
        description={t('apiKeys.nameHint')}
        required
        withAsterisk={false}
        maxLength={100}
        value={name}
        error={errors['name']}
        onChange={(event) => onName(event.currentTarget.value)}
        data-autofocus
      />
      <Radio.Group label={t('apiKeys.scope')} value={scope} onChange={(value) => setScope(value === 'write' ? 'write' : 'read')}>
        <div className={forms['choice']}>
          <Radio value="read" label={t('apiKeys.scopeRead')} />
          <Radio value="write" label={t('apiKeys.scopeWrite')} />
        </div>
      </Radio.Group>
      {own === 'admin' && (
        <Radio.Group label={t('apiKeys.role')} value={role} onChange={(value) => setRole(value === 'admin' ? 'admin' : 'client')}>
          <div className={forms['choice']}>
            <Radio value="admin" label={t('apiKeys.roleAdmin')} />
            <Radio value="client" label={t('apiKeys.roleClient')} />
          </div>
        </Radio.Group>
      )}
      <NativeSelect
        label={t('apiKeys.expiry')}
        value={end}
        error={errors['expiresAt']}
        onChange={(event) => setEnd(event.currentTarget.value)}
        data={[
          ...days.map((count) => ({ value: count, label: t('apiKeys.inDays', { count: Number(count) }) })),
          { value: noEnd, label: t('apiKeys.noExpiry') },
        ]}
      />
      <FaultLine error={hasFieldError ? null : mint.error} />
      <div className={forms['actions']}>
        <Button type="submit" variant="filled" loading={mint.isPending}>
          {t('apiKeys.mintAction')}
        </Button>
        <Button onClick={onCancel}>{t('common.cancel')}</Button>
      </div>
    </form>
  );
};
