import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../theme/Button.js';
import { atNoonUtc, calendarDay, dayText } from '../../../ui/dates.js';
import { DayField } from '../../../ui/DayField.js';
import classes from '../delivery.module.css';
import { offeredDays } from '../steps.js';

/** The day that is offered for a step, as it is sent. */
const offered = (): string => atNoonUtc(calendarDay(new Date(Date.now() + offeredDays * 86_400_000), 'moment'));

interface DueFieldProps {
  /** ISO 8601; its UTC day counts. */
  readonly value: string | undefined;
  readonly error?: string | undefined;
  /** Given as it is sent; empty: none. */
  readonly onChange: (value: string) => void;
}

/** When a step is due: a day, or the one that is offered. */
export const DueField = ({ value, error, onChange }: DueFieldProps): ReactNode => {
  const { t } = useTranslation();
  const suggestion = offered();
  return (
    <div className={classes['dueField']}>
      <DayField label={t('delivery.dueDate')} value={value ?? ''} error={error} onChange={onChange} />
      {value === undefined && (
        <Button className={classes['offered'] ?? ''} variant="subtle" color="gray" onClick={() => onChange(suggestion)}>
          {t('delivery.offered', { day: dayText(suggestion, 'day') })}
        </Button>
      )}
    </div>
  );
};
