import i18next from 'i18next';

const numberText = (value: number, unit: 'second' | 'minute', digits = 0): string =>
  new Intl.NumberFormat(i18next.language, {
    style: 'unit',
    unit,
    unitDisplay: 'narrow',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(value);

/** "0.4s", "12s", "3m 20s"; whatever is shorter is a tenth of a second. */
export const durationText = (ms: number): string => {
  const seconds = Math.max(ms, 100) / 1000;
  if (seconds < 10) return numberText(seconds, 'second', 1);
  const whole = Math.round(seconds);
  if (whole < 60) return numberText(whole, 'second');
  const rest = whole % 60;
  return [numberText(Math.floor(whole / 60), 'minute'), rest === 0 ? '' : numberText(rest, 'second')].join(' ').trim();
};

/** "14:02:10", in the reader's zone: attempts are seconds apart. */
export const clockText = (time: string): string =>
  new Intl.DateTimeFormat(i18next.language, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false }).format(
    new Date(time),
  );
