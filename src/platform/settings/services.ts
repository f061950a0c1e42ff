import { whole, type SettingsReader } from './reader.js';
import { anyText, credential, listOf, Problem } from './values.js';
import { apiOrigin, baseAddress } from './webAddresses.js';

export interface StripeAccount {
  readonly secretKey: string;
  /** The default price of subscriptions; absent: every transfer must name a price. */
  readonly priceId: string | undefined;
  /** Base address of the API, without a trailing slash; absent: Stripe's own. */
  readonly apiUrl: string | undefined;
}

export const readStripe = ({ read, needFor }: SettingsReader): StripeAccount | undefined => {
  const secretKey = read('STRIPE_SECRET_KEY', stripeSecretKey, undefined);
  const priceId = read('STRIPE_PRICE_ID', credential, undefined);
  const apiUrl = read('STRIPE_API_URL', apiOrigin, undefined);
  needFor('STRIPE_SECRET_KEY', 'STRIPE_PRICE_ID', 'STRIPE_API_URL');
  return secretKey === undefined ? undefined : { secretKey, priceId, apiUrl };
};

/** A secret or restricted key. A publishable key (`pk_`) cannot make the calls needed here. */
const stripeSecretKey = (text: string): string | Problem =>
  /^[rs]k_\w+$/.test(text) ? text : new Problem('must be a key that begins with sk_ or rk_');

export interface KeyedService {
  readonly url: string;
  readonly apiKey: string;
}

export const readAnalytics = ({ read, needTogether }: SettingsReader): KeyedService | undefined => {
  const url = read('ANALYTICS_URL', baseAddress, undefined);
  const apiKey = read('ANALYTICS_API_KEY', credential, undefined);
  needTogether('ANALYTICS_URL', 'ANALYTICS_API_KEY');
  return whole({ url, apiKey });
};

export const readScheduling = ({ read, needTogether }: SettingsReader): KeyedService | undefined => {
  const url = read('SCHEDULING_API_URL', baseAddress, undefined);
  const apiKey = read('SCHEDULING_API_KEY', credential, undefined);
  needTogether('SCHEDULING_API_URL', 'SCHEDULING_API_KEY');
  return whole({ url, apiKey });
};

export interface LlmGateway {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
}

export const readLlm = ({ read, needTogether }: SettingsReader): LlmGateway | undefined => {
  const baseUrl = read('LLM_BASE_URL', baseAddress, undefined);
  const apiKey = read('LLM_API_KEY', credential, undefined);
  const model = read('LLM_MODEL', anyText, undefined);
  needTogether('LLM_BASE_URL', 'LLM_API_KEY', 'LLM_MODEL');
  return whole({ baseUrl, apiKey, model });
};

export interface CommerceSettings {
  /** The current one first; empty: webhooks are not accepted. */
  readonly webhookSecrets: readonly string[];
  /** The version of Shopify's Admin API. */
  readonly apiVersion: string;
}

export const readCommerce = ({ read }: SettingsReader): CommerceSettings => ({
  webhookSecrets: read('COMMERCE_WEBHOOK_SECRET', secretsInRotation, []),
  apiVersion: read('COMMERCE_API_VERSION', shopifyVersion, '2026-01'),
});

/** A version of Shopify's API: a quarter, as in `2026-01`. */
const shopifyVersion = (text: string): string | Problem =>
  /^20\d\d-(01|04|07|10)$/.test(text)
    ? text
    : new Problem('must be a version of the API: a year and 01, 04, 07 or 10, as in 2026-01');

/** The current secret and, during a rotation, the previous one. */
const secretsInRotation = (text: string): readonly string[] | Problem => {
  const secrets = listOf(credential)(text);
  return secrets instanceof Problem || secrets.length <= 2
    ? secrets
    : new Problem('must be one secret, or two separated by a comma');
};
