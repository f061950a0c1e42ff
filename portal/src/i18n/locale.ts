import i18next from 'i18next';

/**
 * How dates, numbers and lists are written: days before months and a currency's sign before the amount,
 * for everybody who reads English here.
 */
export const locale = (): string => (i18next.language === 'en' ? 'en-GB' : i18next.language);
