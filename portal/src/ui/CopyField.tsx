import { useId, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../theme/Button.js';
import { useAnnounce } from './Announcer.js';
import classes from './CopyField.module.css';

interface CopyFieldProps {
  readonly label: ReactNode;
  readonly value: string;
  /** After the value has been copied. */
  readonly onCopied?: () => void;
}

/** A value to take along: shown in full, selected on focus, copied with one button. */
export const CopyField = ({ label, value, onCopied }: CopyFieldProps): ReactNode => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    // Without https there is no clipboard: the value is then selected, to be copied by hand.
    field.current?.select();
    if (!isSecureContext) return;
    await navigator.clipboard.writeText(value);
    setCopied(true);
    announce(t('common.copied'));
    onCopied?.();
  };
  return (
    <div className={classes['field']}>
      <label htmlFor={id}>{label}</label>
      <div className={classes['row']}>
        <input id={id} ref={field} readOnly value={value} onFocus={(event) => event.currentTarget.select()} />
        <Button onClick={() => void copy()}>{t(isCopied ? 'common.copied' : 'common.copy')}</Button>
      </div>
    </div>
  );
};
