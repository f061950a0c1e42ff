import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import { pathTo } from '../../../paths.js';
import { Button } from '../../../theme/Button.js';
import { TextInput } from '../../../theme/TextInput.js';
import forms from '../../../ui/forms.module.css';

/** Admins look for somebody else's keys. */
export const SubjectForm = ({ subject }: { readonly subject: string | undefined }): ReactNode => {
  const { t } = useTranslation();
  const [, setSearch] = useSearchParams();
  const [typed, setTyped] = useState(subject ?? '');
  return (
    <form
      className={`card ${forms['card'] ?? ''} ${forms['form'] ?? ''}`}
      onSubmit={(event) => {
        event.preventDefault();
        const next = typed.trim();
        setSearch(next === '' ? {} : { subject: next });
      }}
    >
      <TextInput
        label={t('apiKeys.subject')}
        description={t('apiKeys.subjectHint')}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
      />
      <div className={forms['actions']}>
        <Button type="submit">{t('apiKeys.showSubject')}</Button>
        {subject !== undefined && (
          <Button component={Link} to={pathTo('apiKeys')} variant="subtle" color="gray">
            {t('apiKeys.showMine')}
          </Button>
        )}
      </div>
    </form>
  );
};
