import type { Invited, Linked, WebsiteClientLink } from '@doorstep/sdk';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { Checkbox } from '../../../theme/Checkbox.js';
import { NativeSelect } from '../../../theme/NativeSelect.js';
import { TextInput } from '../../../theme/TextInput.js';
import { dayText } from '../../../ui/dates.js';
import { fieldErrors } from '../../../ui/fieldErrors.js';
import { FaultLine } from '../../../ui/FaultLine.js';
import forms from '../../../ui/forms.module.css';
import { useLeaveGuard } from '../../../ui/leaving.js';
import { useAdd } from '../mutations.js';

interface AddFormProps {
  readonly websiteId: string;
  /** Whether the link or the invitation is listed below. */
  readonly isListed: (added: Linked | Invited) => boolean;
}

/** Gives somebody access by their address, and says what has come of it. */
export const AddForm = ({ websiteId, isListed }: AddFormProps): ReactNode => {
  const { t } = useTranslation();
  const add = useAdd(websiteId);
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<WebsiteClientLink['role']>('viewer');
  const [notify, setNotify] = useState(true);
  useLeaveGuard(email.trim() !== '');
  const errors = fieldErrors(add.error);
  const { data: added } = add;
  const stands = added !== undefined && isListed(added);
  const [over, setOver] = useState<Linked | Invited>();
  // Once it was listed and is no longer, it was accepted, revoked or removed. The list may get it only after the answer.
  useEffect(() => (stands ? () => setOver(added) : undefined), [stands, added]);
  const outcome = (answer: Linked | Invited): string =>
    answer.kind === 'invited'
      ? t('people.invited', { email: answer.invitation.email, day: dayText(answer.invitation.expiresAt, 'moment') })
      : t(add.variables?.notify === true ? 'people.linkedAndTold' : 'people.linked', {
          name: answer.link.name ?? answer.link.email,
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
      <div role="status">{added !== undefined && added !== over && <p>{outcome(added)}</p>}</div>
      <div className={forms['actions']}>
        <Button type="submit" variant="filled" loading={add.isPending}>
          {t('people.addAction')}
        </Button>
      </div>
    </form>
  );
};
