import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { isList, isObject } from '../json.js';
import { titleAt, type Field } from '../schema.js';
import classes from './Reading.module.css';

/** The part of a field that a step leads to. */
const below = (field: Field | null, step: string): Field | null => {
  if (field?.kind === 'object') return field.fields.find(({ name }) => name === step)?.field ?? null;
  return null;
};

/** A document, or a part of one, to be read. */
export const Reading = ({ value, field = null }: { readonly value: unknown; readonly field?: Field | null }): ReactNode => {
  const { t } = useTranslation();
  if (value === undefined || value === null || value === '') return <span className="muted">{t('content.nothing')}</span>;
  if (typeof value === 'boolean') return t(value ? 'content.yes' : 'content.no');
  if (isList(value)) {
    if (value.length === 0) return <span className="muted">{t('content.nothing')}</span>;
    return (
      <ul className={classes['list']}>
        {value.map((part, index) => (
          <li key={`${String(index)} ${JSON.stringify(part)}`}>
            <Reading value={part} field={field?.kind === 'list' ? field.item : null} />
          </li>
        ))}
      </ul>
    );
  }
  if (isObject(value)) {
    return (
      <dl className={classes['fields']}>
        {Object.entries(value).map(([name, part]) => (
          <div key={name}>
            <dt>{titleAt(field, [name])}</dt>
            <dd>
              <Reading value={part} field={below(field, name)} />
            </dd>
          </div>
        ))}
      </dl>
    );
  }
  return <span className={classes['text']}>{typeof value === 'string' ? value : JSON.stringify(value)}</span>;
};
