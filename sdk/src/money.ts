/**
 * Currencies whose smallest unit is not a hundredth, by the places of that unit behind the point (ISO 4217).
 * `Intl` does not say it: its digits are what people write, which differs between engines and is 0 for HUF or IDR.
 */
const digitsOf = new Map<string, number>([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0] as const),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3] as const),
  ...'CLF UYW'.split(' ').map((code) => [code, 4] as const),
]);

/** How many digits the smallest unit of a currency has behind the point: 2 of `eur`, 0 of `jpy`. In either case. */
export const currencyDigits = (currency: string): number => digitsOf.get(currency.toUpperCase()) ?? 2;

/**
 * `€49.00`: an amount as people write it.
 * @param amount in the smallest unit of the currency, as the service answers it
 * @param locale default: of this machine or page
 */
export const moneyText = (amount: number, currency: string, locale?: string): string => {
  const digits = currencyDigits(currency);
  const format = { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const;
  return new Intl.NumberFormat(locale, format).format(amount / 10 ** digits);
};
