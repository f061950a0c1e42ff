import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { Button } from '../../../theme/Button.js';
import { NativeSelect } from '../../../theme/NativeSelect.js';
import { TextInput } from '../../../theme/TextInput.js';
import { fieldErrors } from '../../../ui/fieldErrors.js';
import forms from '../../../ui/forms.module.css';
import type { AuditFilter } from '../filter.js';
import { websiteChoiceQuery, websiteNamesQuery } from '../queries.js';

interface FilterFormProps {
  readonly filter: AuditFilter;
  /** What the service says of the filters. */
  readonly error: unknown;
}

/** Which changes; the answer goes into the address. */
export const FilterForm = ({ filter, error }: FilterFormProps): ReactNode => {
  const { t } = useTranslation();
  const [, setSearch] = useSearchParams();
  const { data: all } = useQuery(websiteChoiceQuery());
  const [sought, setSought] = useState('');
  const [asked] = useDebouncedValue(sought.trim(), 200);
  const { data: { websites = [] } = {} } = useQuery(websiteChoiceQuery(asked));
  const [chosen, setChosen] = useState(filter);
  const [isBackward, setBackward] = useState(false);
  const errors = fieldErrors(error);
  const { websiteId = '', actor = '', from = '', to = '', sort = '' } = chosen;
  // One that the list does not hold: a link led to it, or it was chosen from another search.
  const isOther = websiteId !== '' && websites.every(({ id }) => id !== websiteId);
  const { data: names = {} } = useQuery(websiteNamesQuery(isOther ? [websiteId] : []));
  const other = isOther ? [{ value: websiteId, label: names[websiteId] ?? websiteId }] : [];
  return (
    <form
      className={`card ${forms['card'] ?? ''} ${forms['form'] ?? ''}`}
      onSubmit={(event) => {
        event.preventDefault();
        const endsBefore = from !== '' && to !== '' && to < from;
        setBackward(endsBefore);
        if (endsBefore) return;
        const filled = Object.entries({ websiteId, actor: actor.trim(), from, to, sort }).filter(([, value]) => value !== '');
        setSearch(Object.fromEntries(filled));
      }}
    >
      <div className={forms['fields']}>
        {all?.hasMore === true && (
          <TextInput
            type="search"
            label={t('audit.find')}
            placeholder={t('audit.findHint')}
            maxLength={200}
            value={sought}
            onChange={({ currentTarget: { value } }) => setSought(value)}
          />
        )}
        <NativeSelect
          label={t('audit.website')}
          value={websiteId}
          onChange={({ currentTarget: { value } }) => setChosen({ ...chosen, websiteId: value })}
          data={[
            { value: '', label: t('audit.allWebsites') },
            ...other,
            ...websites.map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
        <TextInput
          label={t('audit.actor')}
          placeholder={t('audit.actorHint')}
          value={actor}
          error={errors['actor']}
          onChange={({ currentTarget: { value } }) => setChosen({ ...chosen, actor: value })}
          autoCapitalize="none"
          spellCheck={false}
        />
        <TextInput
          type="date"
          label={t('audit.from')}
          value={from}
          error={errors['from']}
          onChange={({ currentTarget: { value } }) => setChosen({ ...chosen, from: value })}
        />
        <TextInput
          type="date"
          label={t('audit.to')}
          value={to}
          error={isBackward ? t('audit.backward') : errors['to']}
          onChange={({ currentTarget: { value } }) => setChosen({ ...chosen, to: value })}
        />
        <NativeSelect
          label={t('audit.order')}
          value={sort}
          onChange={({ currentTarget: { value } }) => {
            const { sort: _, ...rest } = chosen;
            setChosen(value === 'at' ? { ...rest, sort: 'at' } : rest);
          }}
          data={[
            { value: '', label: t('audit.newest') },
            { value: 'at', label: t('audit.oldest') },
          ]}
        />
      </div>
      <div className={forms['actions']}>
        <Button type="submit">{t('audit.apply')}</Button>
        {Object.keys(filter).length > 0 && (
          <Button variant="subtle" color="gray" onClick={() => setSearch({})}>
            {t('audit.clear')}
          </Button>
        )}
      </div>
      <p className="muted small">{t('audit.days')}</p>
    </form>
  );
};
