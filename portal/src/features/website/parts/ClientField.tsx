import type { Client } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useDebouncedValue } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Select } from '../../../theme/Select.js';
import { clientChoiceQuery } from '../../newWebsite/queries.js';

const labelOf = ({ name, email }: Client): string => (name === undefined ? email : `${name} · ${email}`);

interface ClientFieldProps {
  /** Id of a client; null: nobody. */
  readonly value: string | null;
  readonly onChange: (clientId: string | null) => void;
  /** Whom `value` names, when they may not be among the first found. */
  readonly current?: Client | undefined;
  readonly description: string;
}

/** Chooses a client by name or address. */
export const ClientField = ({ value, onChange, current, description }: ClientFieldProps): ReactNode => {
  const { t } = useTranslation();
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState<Client>();
  const shown = chosen ?? current;
  const [asked] = useDebouncedValue(shown !== undefined && words === labelOf(shown) ? '' : words.trim(), 200);
  const { data: found = [] } = useQuery(clientChoiceQuery(asked));
  const options = value === null || shown === undefined || found.some(({ id }) => id === value) ? found : [shown, ...found];
  return (
    <Select
      label={t('websiteForm.client')}
      description={description}
      placeholder={t('websiteForm.clientNobody')}
      nothingFoundMessage={t('websiteForm.clientNotFound')}
      clearable
      clearButtonProps={{ 'aria-label': t('websiteForm.clientClear') }}
      searchable
      data={options.map((client) => ({ value: client.id, label: labelOf(client) }))}
      filter={({ options: all }) => all}
      searchValue={words}
      onSearchChange={setWords}
      value={value}
      onChange={(clientId) => {
        setChosen(options.find(({ id }) => id === clientId));
        onChange(clientId);
      }}
    />
  );
};
