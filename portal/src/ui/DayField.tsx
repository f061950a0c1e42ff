import { useState, type ComponentProps, type ReactNode } from 'react';
import { TextInput } from '../theme/TextInput.js';
import { atNoonUtc, calendarDay } from './dates.js';

/** A year that is typed passes through 0002, 0020 and 0202 on its way to 2027. */
const hasWholeYear = (day: string): boolean => /^[1-9]\d{3}-/.test(day);

interface DayFieldProps extends Omit<ComponentProps<typeof TextInput>, 'type' | 'value' | 'onChange'> {
  /** ISO 8601; its UTC day counts. Empty: none. */
  readonly value: string;
  /** Given as it is sent, at 12:00 UTC; empty once the day was taken away. */
  readonly onChange: (value: string) => void;
  /** Whether what is typed is no whole day; it then stands also when the field is left, where it shows its value otherwise. */
  readonly onUnfinished?: (isUnfinished: boolean) => void;
}

/** A day, typed or picked. What is typed stands until it is a whole day, or the field is left. */
export const DayField = ({ value, onChange, onUnfinished, onBlur, ...props }: DayFieldProps): ReactNode => {
  const [typed, setTyped] = useState<string>();
  return (
    <TextInput
      {...props}
      type="date"
      min="1000-01-01"
      // More digits than four are no year that the service takes.
      max="9999-12-31"
      value={typed ?? (value === '' ? '' : calendarDay(value, 'day'))}
      onChange={({ currentTarget: { value: day, validity } }) => {
        setTyped(day);
        // A browser gives half of a day as none.
        const isWhole = day === '' ? !validity.badInput : hasWholeYear(day);
        onUnfinished?.(!isWhole);
        if (isWhole) onChange(day === '' ? '' : atNoonUtc(day));
      }}
      onBlur={(event) => {
        if (onUnfinished === undefined) setTyped(undefined);
        onBlur?.(event);
      }}
    />
  );
};
