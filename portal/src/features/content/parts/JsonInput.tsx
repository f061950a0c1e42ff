import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Textarea } from '../../../theme/Textarea.js';
import { isSame } from '../json.js';
import classes from './JsonInput.module.css';

/** A text that is no JSON, as a value: it is refused before it is sent. */
class NotJson {
  readonly text: string;
  /** As the browser says it. */
  readonly reason: string;

  constructor(text: string, reason: string) {
    this.text = text;
    this.reason = reason;
  }
}

/** Whether a document holds a text that is no JSON. */
export const holdsNotJson = (value: unknown): boolean =>
  value instanceof NotJson || (typeof value === 'object' && value !== null && Object.values(value).some(holdsNotJson));

/** What a text says, or why it says nothing. */
const read = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    return new NotJson(text, error instanceof Error ? error.message : '');
  }
};

const textOf = (value: unknown): string => (value instanceof NotJson ? value.text : JSON.stringify(value, null, 2));

/** Line and column, of a reason such as "… at position 12 (line 2 column 3)". */
const placeIn = ({ text, reason }: NotJson): { readonly line: number; readonly column: number } => {
  const position = Number(/position (\d+)/.exec(reason)?.[1] ?? text.length);
  const before = text.slice(0, position).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
};

interface JsonInputProps {
  readonly label: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  /** What the service says of it. */
  readonly issue: string | undefined;
}

/** A part of a document that no form is drawn for, as text. */
export const JsonInput = ({ label, value, onChange, issue }: JsonInputProps): ReactNode => {
  const { t } = useTranslation();
  const [text, setText] = useState(() => textOf(value));
  const said = read(text);
  // Discarded, merged or saved by another: the text follows the value.
  const isOwn = value instanceof NotJson ? value.text === text : isSame(value, said);
  const shown = isOwn ? text : textOf(value);
  return (
    <Textarea
      label={label}
      description={t('content.jsonHelp')}
      classNames={{ input: classes['text'] ?? '' }}
      autosize
      minRows={8}
      maxRows={30}
      spellCheck={false}
      value={shown}
      error={value instanceof NotJson ? t('content.notJson', placeIn(value)) : issue}
      onChange={(event) => {
        setText(event.currentTarget.value);
        onChange(read(event.currentTarget.value));
      }}
    />
  );
};
