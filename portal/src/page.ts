/** What the service wrote into the page: where it is, whose it is, and how one signs in. */
const { dataset } = document.documentElement;

/** Path of the service's address, without a trailing slash. */
export const base = dataset['base'] ?? '';

/** The agency's name. */
export const brandName = dataset['brand'] ?? '';

/** Address of the agency's logo; absent: its first letter stands there. */
export const brandLogo = dataset['logo'];

/** Of the portal that this page was loaded from. */
export const version = dataset['version'] ?? '';

/** Whether the service keeps its mails itself, where admins can read them. */
export const hasOutbox = dataset['outbox'] !== undefined;

/** Whether admins write the invoices by hand: no payment provider does. */
export const hasLedger = dataset['ledger'] !== undefined;

/** How a browser signs in (authorization code with PKCE); absent: it cannot. */
export interface SignInWays {
  readonly clientId: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly endSessionEndpoint: string | undefined;
  readonly audience: string | undefined;
}

const { clientId, authorizationEndpoint, tokenEndpoint, endSessionEndpoint, audience } = dataset;

export const signInWays: SignInWays | undefined =
  clientId === undefined || authorizationEndpoint === undefined || tokenEndpoint === undefined
    ? undefined
    : { clientId, authorizationEndpoint, tokenEndpoint, endSessionEndpoint, audience };
