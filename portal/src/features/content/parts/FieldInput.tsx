import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { NativeSelect } from '../../../theme/NativeSelect.js';
import { Switch } from '../../../theme/Switch.js';
import { Textarea } from '../../../theme/Textarea.js';
import { TextInput } from '../../../theme/TextInput.js';
import { isList, isObject, withAt } from '../json.js';
import { emptyOf, type Field, type ListField, type ObjectField, type TextField } from '../schema.js';
import classes from './FieldInput.module.css';
import { JsonInput } from './JsonInput.js';
import { PictureInput } from './PictureInput.js';

/** What the service says of fields, by their places: `body.hours.0.days`. */
export type Issues = Readonly<Partial<Record<string, string>>>;

interface InputProps<Of extends Field = Field> {
  readonly field: Of;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  /** Its place, as the service names it. */
  readonly place: string;
  readonly issues: Issues;
  readonly required: boolean;
  readonly websiteId: string;
  /** Instead of the title of the field: "Line 2". */
  readonly label?: string;
}

const hasIssue = (issues: Issues, place: string): boolean =>
  Object.keys(issues).some((name) => name === place || name.startsWith(`${place}.`));

const TextFieldInput = ({ field, value, onChange, place, issues, required, label }: InputProps<TextField>): ReactNode => {
  const text = typeof value === 'string' ? value : '';
  const shared = {
    label: label ?? field.title,
    description: field.help,
    error: issues[place],
    required,
    withAsterisk: false,
    value: text,
    // An optional text that is empty is left out: the template says how long a text has to be.
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      onChange(event.currentTarget.value === '' && !required ? undefined : event.currentTarget.value),
  };
  if (field.choices !== undefined) {
    return <NativeSelect {...shared} data={required ? [...field.choices] : ['', ...field.choices]} />;
  }
  if (field.long) return <Textarea {...shared} autosize minRows={2} maxRows={14} />;
  return <TextInput {...shared} type={field.type} />;
};

const ObjectInput = ({ field, value, onChange, place, issues, websiteId, label }: InputProps<ObjectField>): ReactNode => {
  const object = isObject(value) ? value : {};
  const parts = field.fields.map(({ name, field: part, required }) => (
    <FieldInput
      key={name}
      field={part}
      value={object[name]}
      onChange={(next) => onChange(withAt(object, [name], next))}
      place={`${place}.${name}`}
      issues={issues}
      required={required}
      websiteId={websiteId}
    />
  ));
  if (label === '') return <div className={classes['fields']}>{parts}</div>;
  return (
    <fieldset className={classes['group']}>
      <legend>{label ?? field.title}</legend>
      {parts}
    </fieldset>
  );
};

/** Fields by which people know an entry, if it has one of them. */
const nameFields = ['title', 'name', 'question', 'label'];

const isWords = (part: unknown): part is string => typeof part === 'string' && part !== '';

/** What an entry of a list is called: by its title, else by its first text, else by its number. */
const entryName = (entry: unknown, field: Field, index: number): string => {
  const parts = isObject(entry) ? [...nameFields.map((name) => entry[name]), ...Object.values(entry)] : [];
  return parts.find(isWords) ?? `${field.title} ${String(index + 1)}`;
};

interface LongEntryProps {
  readonly name: string;
  readonly isNew: boolean;
  readonly hasIssue: boolean;
  readonly children: ReactNode;
}

/** An entry that is opened to be edited. A new one begins open, and stays so while it gets its first words. */
const LongEntry = ({ name, isNew, hasIssue: opens, children }: LongEntryProps): ReactNode => {
  const [isOpen, setOpen] = useState(isNew);
  return (
    <details className={classes['closed']} open={isOpen || opens} onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>{name}</summary>
      {children}
    </details>
  );
};

const ListInput = ({ field, value, onChange, place, issues, websiteId }: InputProps<ListField>): ReactNode => {
  const { t } = useTranslation();
  const id = useId();
  const entries = isList(value) ? value : [];
  const { item } = field;
  const list = useRef<HTMLFieldSetElement>(null);
  const isAdding = useRef(false);
  useEffect(() => {
    if (!isAdding.current) return;
    isAdding.current = false;
    const added = [...(list.current?.querySelectorAll(':scope > div, :scope > details') ?? [])].at(-1);
    added?.querySelector<HTMLElement>('input, textarea, select, button')?.focus();
  }, [entries.length]);
  // Few short texts stand in a row; what has more is opened.
  const isInline =
    item.kind !== 'object' || (item.fields.length <= 2 && item.fields.every(({ field: { kind } }) => kind === 'text'));
  const move = (from: number, to: number): void => {
    const [entry] = entries.slice(from, from + 1);
    onChange(entries.toSpliced(from, 1).toSpliced(to, 0, entry));
  };
  return (
    <fieldset ref={list} className={classes['group']}>
      <legend id={id}>{field.title}</legend>
      {issues[place] !== undefined && <p role="alert">{issues[place]}</p>}
      {entries.map((entry, index) => {
        const name = isInline ? `${item.title} ${String(index + 1)}` : entryName(entry, item, index);
        const input = (
          <FieldInput
            field={item}
            value={entry}
            onChange={(next) => onChange(entries.toSpliced(index, 1, next ?? ''))}
            place={`${place}.${String(index)}`}
            issues={issues}
            required
            websiteId={websiteId}
            label={item.kind === 'object' && !isInline ? '' : name}
          />
        );
        const buttons = (
          <div className={classes['buttons']}>
            <Button
              size="xs"
              variant="subtle"
              color="gray"
              disabled={index === 0}
              aria-label={t('content.upOf', { name })}
              onClick={() => move(index, index - 1)}
            >
              ↑
            </Button>
            <Button
              size="xs"
              variant="subtle"
              color="gray"
              disabled={index === entries.length - 1}
              aria-label={t('content.downOf', { name })}
              onClick={() => move(index, index + 1)}
            >
              ↓
            </Button>
            <Button
              size="xs"
              variant="subtle"
              color="gray"
              disabled={entries.length <= field.min}
              aria-label={t('content.removeOf', { name })}
              onClick={() => onChange(entries.toSpliced(index, 1))}
            >
              {t('common.remove')}
            </Button>
          </div>
        );
        const key = String(index);
        if (isInline) {
          return (
            <div key={key} className={classes['entry']}>
              {input}
              {buttons}
            </div>
          );
        }
        const isNew = isObject(entry) && Object.values(entry).every((part) => part === '' || (isList(part) && part.length === 0));
        return (
          <LongEntry key={key} name={name} isNew={isNew} hasIssue={hasIssue(issues, `${place}.${key}`)}>
            {input}
            {buttons}
          </LongEntry>
        );
      })}
      {entries.length < field.max && (
        <Button
          size="xs"
          className={classes['add']}
          aria-label={t('content.addTo', { title: field.title })}
          onClick={() => {
            isAdding.current = true;
            onChange([...entries, emptyOf(item)]);
          }}
        >
          {t('content.addEntry')}
        </Button>
      )}
    </fieldset>
  );
};

/** What a part of a document is edited with, by what the template declares. */
export const FieldInput = (props: InputProps): ReactNode => {
  const { field, value, onChange, place, issues, label, websiteId } = props;
  switch (field.kind) {
    case 'object':
      return <ObjectInput {...props} field={field} />;
    case 'list':
      return <ListInput {...props} field={field} />;
    case 'text':
      return <TextFieldInput {...props} field={field} />;
    case 'number':
      return (
        <TextInput
          label={label ?? field.title}
          description={field.help}
          error={issues[place]}
          inputMode="decimal"
          value={typeof value === 'number' || typeof value === 'string' ? String(value) : ''}
          onChange={({ currentTarget: { value: text } }) =>
            onChange(text.trim() !== '' && Number.isFinite(Number(text)) && String(Number(text)) === text ? Number(text) : text)
          }
        />
      );
    case 'yesNo':
      return (
        <Switch
          label={label ?? field.title}
          description={field.help}
          error={issues[place]}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case 'picture':
      return (
        <PictureInput
          title={label ?? field.title}
          value={value}
          onChange={onChange}
          issue={issues[place] ?? issues[`${place}.mediaId`]}
          websiteId={websiteId}
        />
      );
    case 'other':
      return <JsonInput label={label ?? field.title} value={value} onChange={onChange} issue={issues[place]} />;
  }
};
