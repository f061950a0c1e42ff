import { describe, expect, it } from '@jest/globals';
import * as sdk from '@doorstep/sdk';
import { money } from '../../cli/src/views/words.js';
import { amountIn, moneyText as portalText } from '../../portal/src/features/billing/money.js';
import { asInvoice, asPrice, toInvoice, toPrice } from '../../src/integrations/payments/stripeObjects.js';
import { currencyDigits, moneyText } from '../../src/platform/money.js';

/** The spaces of languages differ by engine. */
const plain = (text: string): string => text.replaceAll(/\s/g, ' ');

describe.each([
  // What `Intl` has no digits for, though its smallest unit is a hundredth.
  ['huf', 1_000_000, 'HUF 10,000.00'],
  ['idr', 1_000_000, 'IDR 10,000.00'],
  ['lbp', 1_000_000, 'LBP 10,000.00'],
  ['eur', 4_900, '€49.00'],
  ['jpy', 500, '¥500'],
  ['isk', 500, 'ISK 500'],
  ['kwd', 4_900, 'KWD 4.900'],
])('%s', (currency, amount, text) => {
  it('is worded alike wherever an amount is shown', () => {
    const shown = [moneyText(amount, currency, 'en'), money(amount, currency), sdk.moneyText(amount, currency, 'en')];
    expect(shown.map(plain)).toEqual([text, text, text]);
    expect(plain(portalText(amount, currency)).replaceAll(/[^\d]/g, '')).toBe(text.replaceAll(/[^\d]/g, ''));
  });

  it('is read from a form as it is shown', () => {
    expect(amountIn((amount / 10 ** currencyDigits(currency)).toFixed(currencyDigits(currency)), currency)).toBe(amount);
  });
});

it('the service and the SDK know the same digits of every currency', () => {
  const codes = [...Intl.supportedValuesOf('currency'), 'CLF', 'UYW', 'UYI'];
  expect(codes.map((code) => [code, sdk.currencyDigits(code)])).toEqual(codes.map((code) => [code, currencyDigits(code)]));
});

it.each([
  ['eur', 4_900, 4_900],
  ['huf', 1_000_000, 1_000_000],
  ['idr', 1_000_000, 1_000_000],
  ['jpy', 500, 500],
  ['kwd', 4_900, 4_900],
  // Without decimals, and still with two at Stripe.
  ['isk', 500, 5],
  ['ugx', 500, 5],
  // With decimals, and without at Stripe.
  ['mga', 500, 50_000],
])('an amount of Stripe in %s is one in its smallest unit', (currency, amount, total) => {
  const times = { created: 1, due_date: null, status_transitions: { paid_at: null, voided_at: null } };
  const invoice = asInvoice({ id: 'in_1', status: 'open', total: amount, amount_paid: amount, currency, ...times });
  expect(toInvoice(invoice, { websiteId: 'w', clientId: 'c' })).toMatchObject([{ total, amountPaid: total }]);
  const price = asPrice({ id: 'price_1', active: true, type: 'recurring', unit_amount: amount, currency });
  expect(toPrice(price)).toMatchObject({ amount: total });
});
