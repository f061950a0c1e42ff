/** The commerce platform of the websites' shops. */
export interface Commerce {
  readonly provider: string;
  /** Whether a secret to verify webhooks is set. */
  readonly acceptsWebhooks: boolean;
  /** Whether a webhook was signed with one of the secrets, checked in constant time. */
  isSignatureValid(body: Uint8Array, signature: string): boolean;
  /**
   * The shop that the body of a webhook is about, in lower case; `null` when it does not say, as
   * most topics do not.
   */
  shopIn(body: Uint8Array): string | null;
  /** Whether the body is that of a compliance webhook, whatever topic it is sent under. */
  isComplianceBody(body: Uint8Array): boolean;
  /**
   * A shop's products in order of id, at most `limit` (up to 250), after a product's cursor. May
   * throw ProviderFault.
   */
  products(query: ProductsQuery): Promise<readonly Product[]>;
  /** How many products a shop has. May throw ProviderFault. */
  countProducts(shop: Shop): Promise<number>;
}

export interface ProductsQuery {
  readonly shop: Shop;
  readonly after?: string;
  readonly limit: number;
}

export interface Shop {
  /** Lower-case, as in `corner-bakery.myshopify.com`. */
  readonly domain: string;
  /** An access token of its Admin API. */
  readonly adminToken: string;
}

export interface Product {
  readonly id: string;
  readonly cursor: string;
  readonly title: string;
  readonly handle: string;
  readonly status: 'active' | 'archived' | 'draft' | 'unlisted';
  /** Its public page; absent while it has none. */
  readonly url?: string;
  readonly imageUrl?: string;
  /** Amounts as the platform formats them; an ISO 4217 currency. */
  readonly price: { readonly min: string; readonly max: string; readonly currency: string };
  readonly inventory?: number;
  readonly updatedAt: string;
}
