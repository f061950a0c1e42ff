import { locale } from '../i18n/locale.js';

/** "1,234", or as the options say. */
export const numberText = (value: number, options?: Intl.NumberFormatOptions): string =>
  new Intl.NumberFormat(locale(), options).format(value);

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** "512 bytes", "240 kB", "1.2 MB". */
export const sizeText = (bytes: number): string => {
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return numberText(bytes / 1000 ** power, {
    style: 'unit',
    unit: units[power],
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: power > 1 ? 1 : 0,
  });
};
