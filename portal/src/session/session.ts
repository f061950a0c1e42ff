import type { User, UserManager } from 'oidc-client-ts';
import { base, signInWays } from '../page.js';

/** Nobody is signed in, or no longer. */
export class SignedOut extends Error {}

/** What oidc-client-ts keeps of a session, for this tab alone. */
type KeptUser = Pick<User, 'access_token' | 'expires_at' | 'refresh_token'>;

/** Kept over the way to the identity provider and back. */
interface Attempt {
  /** Where to go on, below the base address. */
  readonly back: string;
}

const authority = signInWays === undefined ? '' : new URL('.', signInWays.authorizationEndpoint).href;
const userKey = `oidc.user:${authority}:${signInWays?.clientId ?? ''}`;

/** A token is renewed this long before it ends, in seconds. */
const renewBefore = 30;

const keptUser = (): KeptUser | null => JSON.parse(sessionStorage.getItem(userKey) ?? 'null') as KeptUser | null;

const isCurrent = ({ expires_at: end }: KeptUser): boolean => end === undefined || end - renewBefore > Date.now() / 1000;

let manager: Promise<UserManager> | undefined;

/** Loaded when somebody signs in, or a token has to be renewed: most pages need neither. */
const userManager = (): Promise<UserManager> => {
  manager ??= (async () => {
    if (signInWays === undefined) throw new SignedOut();
    const { UserManager: Manager, WebStorageStateStore } = await import('oidc-client-ts');
    const { clientId, authorizationEndpoint, tokenEndpoint, endSessionEndpoint, audience } = signInWays;
    const origin = location.origin + base;
    return new Manager({
      authority,
      metadata: {
        issuer: authority,
        authorization_endpoint: authorizationEndpoint,
        token_endpoint: tokenEndpoint,
        ...(endSessionEndpoint !== undefined && { end_session_endpoint: endSessionEndpoint }),
      },
      client_id: clientId,
      redirect_uri: `${origin}/app/callback`,
      post_logout_redirect_uri: `${origin}/app/`,
      scope: 'openid email profile',
      ...(audience !== undefined && { extraQueryParams: { audience } }),
      loadUserInfo: false,
      automaticSilentRenew: false,
      userStore: new WebStorageStateStore({ store: sessionStorage }),
      stateStore: new WebStorageStateStore({ store: sessionStorage }),
    });
  })();
  return manager;
};

export const isSignedIn = (): boolean => keptUser() !== null;

/** Whether browsers can sign in here: they do so on https, and on this machine. */
export const canSignIn = signInWays !== undefined && isSecureContext;

/**
 * The access token of whoever is signed in, renewed when it is about to end.
 * @throws SignedOut
 */
export const accessToken = async (): Promise<string> => {
  const user = keptUser();
  if (user === null) throw new SignedOut();
  if (isCurrent(user)) return user.access_token;
  if (user.refresh_token === undefined) throw new SignedOut();
  const renewed = await (await userManager()).signinSilent().catch(() => null);
  if (renewed === null) throw new SignedOut();
  return renewed.access_token;
};

/**
 * Leads to the identity provider, which leads back to `/app/callback`.
 * @param how `back`: where to go on; `anew`: asks who it is, whoever is signed in there; `email`: whom
 *   to suggest
 */
export const signIn = async ({
  back = location.pathname.slice(base.length) + location.search,
  anew = false,
  email,
}: { back?: string; anew?: boolean; email?: string } = {}): Promise<void> => {
  const oidc = await userManager();
  await oidc.removeUser();
  await oidc.signinRedirect({
    state: { back } satisfies Attempt,
    ui_locales: document.documentElement.lang,
    ...(anew && { prompt: 'login' }),
    ...(email !== undefined && { login_hint: email }),
  });
};

/**
 * Takes up what the identity provider has led back with.
 * @returns where to go on, below the base address; null when the attempt has failed
 */
export const completeSignIn = async (): Promise<string | null> => {
  const oidc = await userManager();
  try {
    const { state } = await oidc.signinRedirectCallback();
    return (state as Attempt).back;
  } catch {
    // Begun in another window, answered before, or refused: each of them begins again.
    return null;
  }
};

export const signOut = async (): Promise<void> => {
  const oidc = await userManager();
  await oidc.removeUser();
  if (signInWays?.endSessionEndpoint === undefined) location.assign(`${base}/app/`);
  else await oidc.signoutRedirect({ extraQueryParams: { client_id: signInWays.clientId } });
};
