/** The commerce platform that websites' shops are on. */
export interface Commerce {
  readonly provider: string;
  /** Whether there is a secret to check webhooks with. */
  readonly acceptsWebhooks: boolean;
  /** Whether a webhook was signed with one of the secrets; takes the same time whatever is wrong with it. */
  isSignatureValid(body: Uint8Array, signature: string): boolean;
  /** The products of a shop by their ids, at most `limit` (250), after the cursor of one of them. May throw ProviderFault. */
  products(query: ProductsQuery): Promise<readonly Product[]>;
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
  /** Where customers see it; absent while they cannot. */
  readonly url?: string;
  readonly imageUrl?: string;
  /** Amounts as the platform writes them, in a currency of ISO 4217. */
  readonly price: { readonly min: string; readonly max: string; readonly currency: string };
  readonly inventory?: number;
  readonly updatedAt: string;
}
