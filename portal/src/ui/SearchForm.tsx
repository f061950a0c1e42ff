import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../theme/Button.js';
import { TextInput } from '../theme/TextInput.js';
import forms from './forms.module.css';

/**
 * A search that stands in the address of the page.
 * @param props `label` says what is searched for, `all` leads back to everything; `onSearch` is given an
 *   empty text then
 */
export const SearchForm = ({
  searched,
  label,
  all,
  onSearch,
}: {
  readonly searched: string;
  readonly label: string;
  readonly all: string;
  readonly onSearch: (text: string) => void;
}): ReactNode => {
  const { t } = useTranslation();
  const [typed, setTyped] = useState(searched);
  return (
    <form
      role="search"
      className={forms['actions']}
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(typed.trim());
      }}
    >
      <TextInput
        type="search"
        className={forms['search'] ?? ''}
        aria-label={label}
        placeholder={label}
        value={typed}
        onChange={({ currentTarget: { value } }) => setTyped(value)}
      />
      <Button type="submit">{t('common.search')}</Button>
      {searched !== '' && (
        <Button variant="subtle" color="gray" onClick={() => onSearch('')}>
          {all}
        </Button>
      )}
    </form>
  );
};
