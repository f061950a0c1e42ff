import { locale } from '../../i18n/locale.js';
import { numberText } from '../../ui/numbers.js';

const partText = (value: number, unit: 'second' | 'minute', digits = 0): string =>
  numberText(value, {
    style: 'unit',
    unit,
    unitDisplay: 'narrow',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });

/** "0.4s", "12s", "3m 20s"; whatever is shorter is a tenth of a second. */
export const durationText = (ms: number): string => {
  const seconds = Math.max(ms, 100) / 1000;
  if (seconds < 10) return partText(seconds, 'second', 1);
  const whole = Math.round(seconds);
  if (whole < 60) return partText(whole, 'second');
  const rest = whole % 60;
  return [partText(Math.floor(whole / 60), 'minute'), rest === 0 ? '' : partText(rest, 'second')].join(' ').trim();
};

/** "14:02:10", in the reader's zone: attempts are seconds apart. */
export const clockText = (time: string): string =>
  new Intl.DateTimeFormat(locale(), { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false }).format(
    new Date(time),
  );
