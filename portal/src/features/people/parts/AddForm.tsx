import type { Invited, Linked, WebsiteClientLink } from '@doorstep/sdk';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { Checkbox } from '../../../theme/Checkbox.js';
import { NativeSelect } from '../../../theme/NativeSelect.js';
import { TextInput } from '../../../theme/TextInput.js';
import { dayText } from '../../../ui/dates.js';
import { fieldErrors } from '../../../ui/fieldErrors.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import forms from '../../../ui/forms.module.css';
import { useAdd } from '../mutations.js';

/** Gives somebody access by their address, and says what has come of it. */
export const AddForm = ({ websiteId }: { readonly websiteId: string }): ReactNode => {
  const { t } = useTranslation();
  const add = useAdd(websiteId);
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<WebsiteClientLink['role']>('viewer');
  const [notify, setNotify] = useState(true);
  const errors = fieldErrors(add.error);
  const outcome = (added: Linked | Invited): string =>
    added.kind === 'invited'
      ? t('people.invited', { email: added.invitation.email, day: dayText(added.invitation.expiresAt, 'moment') })
      : t(add.variables?.notify === true ? 'people.linkedAndTold' : 'people.linked', {
          name: added.link.name ?? added.link.email,
        });
  return (
    <form
      className={`card ${forms['card'] ?? ''} ${forms['form'] ?? ''}`}
      aria-label={t('people.add')}
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate({ email: email.trim(), role, notify }, { onSuccess: () => setEmail('') });
      }}
    >
      <h2>{t('people.add')}</h2>
      <div className={`${forms['fields'] ?? ''} ${forms['top'] ?? ''}`}>
        <TextInput
          type="email"
          label={t('people.email')}
          required
          withAsterisk={false}
          maxLength={254}
          autoComplete="off"
          value={email}
          error={errors['email']}
          onChange={({ currentTarget: { value } }) => setEmail(value)}
        />
        <NativeSelect
          label={t('people.role')}
          value={role}
          onChange={({ currentTarget: { value } }) => setRole(value === 'editor' ? 'editor' : 'viewer')}
          data={[
            { value: 'viewer', label: t('people.rolesLong.viewer') },
            { value: 'editor', label: t('people.rolesLong.editor') },
          ]}
        />
      </div>
      <Checkbox
        label={t('people.notify')}
        description={t('people.notifyHint')}
        checked={notify}
        onChange={({ currentTarget: { checked } }) => setNotify(checked)}
      />
      <FaultLine error={Object.keys(errors).length > 0 ? null : add.error} />
      <div role="status">{add.isSuccess && <p>{outcome(add.data)}</p>}</div>
      <div className={forms['actions']}>
        <Button type="submit" variant="filled" loading={add.isPending}>
          {t('people.addAction')}
        </Button>
      </div>
    </form>
  );
};
