import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { NativeSelect } from '../../../theme/NativeSelect.js';
import { TextInput } from '../../../theme/TextInput.js';
import { attentions, features, filterIn, sorts, statuses, tiers, type Filter } from '../filter.js';
import { useSearchText } from '../useSearchText.js';
import classes from './Filters.module.css';

interface FiltersProps {
  readonly filter: Filter;
  /** Given what of it is other now. */
  readonly onChange: (change: Partial<Filter>) => void;
}

/** Search, filters and order of the table. */
export const Filters = ({ filter, onChange }: FiltersProps): ReactNode => {
  const { t } = useTranslation();
  const any = { value: '', label: t('websites.filter.any') };
  const [typed, type] = useSearchText(filter.q, (q) => onChange({ q }));
  // The values of a list are those of the address, and read as such.
  const set = (field: keyof Filter, value: string): void => {
    const read = filterIn(new URLSearchParams([[field, value]]));
    onChange({ [field]: read[field] });
  };
  return (
    <search className={classes['filters']}>
      <TextInput
        type="search"
        className={classes['search'] ?? ''}
        label={t('common.search')}
        placeholder={t('websites.filter.searchText')}
        value={typed}
        onChange={({ currentTarget }) => type(currentTarget.value)}
      />
      <NativeSelect
        label={t('websites.filter.attention')}
        value={filter.attention}
        data={[any, ...attentions.map((value) => ({ value, label: t(`websites.attention.${value}`) }))]}
        onChange={({ currentTarget }) => set('attention', currentTarget.value)}
      />
      <NativeSelect
        label={t('websites.filter.status')}
        value={filter.status}
        data={[any, ...statuses.map((value) => ({ value, label: t(`websites.status.${value}`) }))]}
        onChange={({ currentTarget }) => set('status', currentTarget.value)}
      />
      <NativeSelect
        label={t('websiteForm.tier')}
        value={filter.tier}
        data={[any, ...tiers.map((value) => ({ value, label: t(`websiteForm.tiers.${value}`) }))]}
        onChange={({ currentTarget }) => set('tier', currentTarget.value)}
      />
      <NativeSelect
        label={t('websites.filter.feature')}
        value={filter.feature}
        data={[any, ...features.map((value) => ({ value, label: t(`websiteForm.features.${value}`) }))]}
        onChange={({ currentTarget }) => set('feature', currentTarget.value)}
      />
      <NativeSelect
        className={classes['sort'] ?? ''}
        label={t('websites.filter.sort')}
        value={filter.sort}
        data={sorts.map((value) => ({ value, label: t(`websites.sort.${value}`) }))}
        onChange={({ currentTarget }) => set('sort', currentTarget.value)}
      />
      <label className={classes['archived']}>
        <input
          type="checkbox"
          checked={filter.archived}
          onChange={({ currentTarget }) => onChange({ archived: currentTarget.checked })}
        />
        {t('websites.filter.archived')}
      </label>
    </search>
  );
};
