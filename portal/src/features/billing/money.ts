import { currencyDigits, moneyText as textOf } from '@doorstep/sdk';
import { locale } from '../../i18n/locale.js';

/** "€49.00", of an amount in the smallest unit. */
export const moneyText = (total: number, currency: string): string => textOf(total, currency, locale());

/** What somebody has typed, in the smallest unit; null when it is no amount above zero. A comma is a point. */
export const amountIn = (text: string, currency: string): number | null => {
  const trimmed = text.trim().replace(',', '.');
  const [, fraction = ''] = trimmed.split('.');
  if (!/^\d{1,8}(\.\d+)?$/.test(trimmed) || fraction.length > currencyDigits(currency)) return null;
  const total = Math.round(Number(trimmed) * 10 ** currencyDigits(currency));
  return total > 0 ? total : null;
};
