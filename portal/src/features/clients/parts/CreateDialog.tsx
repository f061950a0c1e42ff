import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { pathTo } from '../../../paths.js';
import { Button } from '../../../theme/Button.js';
import { TextInput } from '../../../theme/TextInput.js';
import { fieldErrors } from '../../../ui/fieldErrors.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import { FormDialog } from '../../../ui/FormDialog.js';
import forms from '../../../ui/forms.module.css';
import { forgetUnsaved } from '../../../ui/leaving.js';
import { useCreate } from '../mutations.js';

/** Registers somebody, and leads to them. */
export const CreateDialog = ({ onClose }: { readonly onClose: () => void }): ReactNode => {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const create = useCreate();
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const errors = fieldErrors(create.error);
  return (
    <FormDialog dirty={email.trim() !== '' || name.trim() !== ''} onClose={onClose} title={t('clients.create')}>
      <form
        className={forms['form']}
        onSubmit={(event) => {
          event.preventDefault();
          const asked = { email: email.trim(), ...(name.trim() !== '' && { name: name.trim() }) };
          create.mutate(asked, {
            onSuccess: ({ id }) => {
              forgetUnsaved();
              void navigate(pathTo('client', { clientId: id }));
            },
          });
        }}
      >
        <p>{t('clients.createText')}</p>
        <TextInput
          type="email"
          label={t('clients.email')}
          required
          withAsterisk={false}
          maxLength={254}
          autoComplete="off"
          value={email}
          error={errors['email']}
          onChange={({ currentTarget: { value } }) => setEmail(value)}
          data-autofocus
        />
        <TextInput
          label={t('clients.nameOptional')}
          autoComplete="off"
          value={name}
          error={errors['name']}
          onChange={({ currentTarget: { value } }) => setName(value)}
        />
        <FaultLine error={Object.keys(errors).length > 0 ? null : create.error} />
        <div className={forms['actions']}>
          <Button type="submit" variant="filled" loading={create.isPending}>
            {t('clients.createAction')}
          </Button>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
        </div>
      </form>
    </FormDialog>
  );
};
