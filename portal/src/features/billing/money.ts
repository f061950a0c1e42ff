import i18next from 'i18next';

/** Days before months and the currency's sign before the amount, for everybody who reads English here. */
const locale = (): string => (i18next.language === 'en' ? 'en-GB' : i18next.language);

/** How many digits the smallest unit of a currency stands behind the point. */
const digitsOf = (currency: string): number =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;

/** "€49.00", of an amount in the smallest unit. */
export const moneyText = (total: number, currency: string): string =>
  new Intl.NumberFormat(locale(), { style: 'currency', currency }).format(total / 10 ** digitsOf(currency));

/** What somebody has typed, in the smallest unit; null when it is no amount above zero. A comma is a point. */
export const amountIn = (text: string, currency: string): number | null => {
  const trimmed = text.trim().replace(',', '.');
  const [, fraction = ''] = trimmed.split('.');
  if (!/^\d{1,8}(\.\d+)?$/.test(trimmed) || fraction.length > digitsOf(currency)) return null;
  const total = Math.round(Number(trimmed) * 10 ** digitsOf(currency));
  return total > 0 ? total : null;
};
