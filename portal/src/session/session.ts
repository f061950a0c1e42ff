import { ConnectionError } from '@doorstep/sdk';
import type { INavigator, User, UserManager } from 'oidc-client-ts';
import { base, signInWays } from '../page.js';

/** Nobody is signed in, or no longer. */
export class SignedOut extends Error {}

/** What oidc-client-ts keeps of a session, for this tab alone. */
export type KeptUser = Pick<User, 'access_token' | 'expires_at' | 'refresh_token' | 'profile'>;

/** Kept over the way to the identity provider and back. */
interface Attempt {
  /** Where to go on, below the base address. */
  readonly back: string;
  /** The page beside which this window signs in (`beside.ts`). */
  readonly beside?: string;
}

const authority = signInWays === undefined ? '' : new URL('.', signInWays.authorizationEndpoint).href;
const userKey = `oidc.user:${authority}:${signInWays?.clientId ?? ''}`;

/** Kept while this tab begins again by itself: it does so once. */
const begunAgainKey = 'doorstep.begunAgain';

/** A token is renewed this long before it ends, in seconds. */
const renewBefore = 30;

const keptUser = (): KeptUser | null => JSON.parse(sessionStorage.getItem(userKey) ?? 'null') as KeptUser | null;

/** Who is signed in, at the identity provider. */
export const signedInSubject = (): string | undefined => keptUser()?.profile.sub;

/** Goes on as somebody who has signed in in another window. */
export const adoptUser = (user: KeptUser): void => sessionStorage.setItem(userKey, JSON.stringify(user));

export const forgetUser = (): void => sessionStorage.removeItem(userKey);

const isCurrent = ({ expires_at: end }: KeptUser): boolean => end === undefined || end - renewBefore > Date.now() / 1000;

/** Whether the identity provider is the service's own: scripts of this page may ask it as whoever is signed in there. */
const isOwnProvider = signInWays !== undefined && new URL(signInWays.authorizationEndpoint).origin === location.origin;

/** How long the provider is asked without a window, in ms: as long as oidc-client-ts asks for tokens. */
const askForMs = 10_000;

/**
 * Asks the provider without a window: it answers by redirecting, and the last address is the answer. A
 * frame, as is usual, is refused by the policy of these pages.
 */
const byFetch: INavigator = {
  prepare: () =>
    Promise.resolve({
      navigate: async ({ url }) => ({ url: (await fetch(url, { signal: AbortSignal.timeout(askForMs) })).url }),
      close: () => undefined,
    }),
  callback: () => Promise.resolve(),
};

let manager: Promise<UserManager> | undefined;

/** Loaded when somebody signs in, or a token has to be renewed: most pages need neither. */
const userManager = (): Promise<UserManager> => {
  manager ??= (async () => {
    if (signInWays === undefined) throw new SignedOut();
    const { UserManager: Manager, WebStorageStateStore } = await import('oidc-client-ts');
    const { clientId, authorizationEndpoint, tokenEndpoint, endSessionEndpoint, audience } = signInWays;
    const origin = location.origin + base;
    const settings = {
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
      // Of all tabs, because the link of a sign-in mail opens one of its own. It holds no token.
      stateStore: new WebStorageStateStore({ store: localStorage }),
    };
    return new Manager(settings, undefined, undefined, byFetch);
  })().catch((error: unknown) => {
    // Without a connection it does not come: the next who needs it asks again.
    manager = undefined;
    throw error;
  });
  return manager;
};

export const isSignedIn = (): boolean => keptUser() !== null;

/** Whether browsers can sign in here: they do so on https, and on this machine. */
export const canSignIn = signInWays !== undefined && isSecureContext;

/** Whether the identity provider has said no. When it cannot be asked just now, that ends no session. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error &&
  'error' in error &&
  typeof error.error === 'string' &&
  !['server_error', 'temporarily_unavailable'].includes(error.error);

/**
 * A refresh token that is used twice ends all that came of the same sign-in, in other tabs too: by a
 * duplicate of this tab, which has the same one, or because the answer to its first use was lost. Whoever
 * is still signed in at the provider, and is the same person, goes on with a token of their own.
 */
const renew = async (): Promise<KeptUser | null> => {
  const oidc = await userManager();
  try {
    return await oidc.signinSilent();
  } catch (error) {
    if (!isOwnProvider || !isRefusal(error)) throw error;
    return oidc.signinSilent({ forceIframeAuth: true });
  }
};

let renewal: Promise<KeptUser | null> | undefined;

/** Once for all who wait in this tab. */
const renewed = (): Promise<KeptUser | null> =>
  (renewal ??= renew().finally(() => {
    renewal = undefined;
  }));

/**
 * The access token of whoever is signed in, renewed when it is about to end.
 * @throws SignedOut
 */
export const accessToken = async (): Promise<string> => {
  const user = keptUser();
  if (user === null) throw new SignedOut();
  if (isCurrent(user)) return user.access_token;
  if (user.refresh_token === undefined) throw new SignedOut();
  const next = await renewed().catch((error: unknown) => {
    if (isRefusal(error)) return null;
    throw new ConnectionError('The identity provider cannot be reached', undefined, { cause: error });
  });
  if (next === null) throw new SignedOut();
  return next.access_token;
};

/**
 * Leads to the identity provider, which leads back to `/app/callback`.
 * @param how `back`: where to go on; `anew`: asks who it is, whoever is signed in there; `email`: whom
 *   to suggest; `beside`: the page beside which this window signs in
 */
export const signIn = async ({
  back = location.pathname.slice(base.length) + location.search,
  anew = false,
  email,
  beside,
}: { back?: string; anew?: boolean; email?: string; beside?: string } = {}): Promise<void> => {
  const oidc = await userManager();
  // The hint of who it was outlives their session.
  const hint = email ?? keptUser()?.profile.email;
  await oidc.removeUser();
  // Somebody else gets nothing of whoever was here.
  if (anew) sessionStorage.clear();
  await oidc.signinRedirect({
    state: { back, ...(beside !== undefined && { beside }) } satisfies Attempt,
    ui_locales: document.documentElement.lang,
    ...(anew && { prompt: 'login' }),
    ...(hint !== undefined && !anew && { login_hint: hint }),
  });
};

/**
 * Takes up what the identity provider has led back with. An attempt of which nothing is known here was
 * begun in another browser, or too long ago: another one begins, without a question to whom the provider
 * knows already.
 * @returns where to go on, below the base address, and who it is; `left` when the page is being left for
 *   another attempt
 */
export const completeSignIn = async (): Promise<(Attempt & { readonly user: KeptUser }) | 'left' | 'failed'> => {
  const oidc = await userManager();
  const id = new URL(location.href).searchParams.get('state');
  const isKnown = id !== null && (await oidc.settings.stateStore.get(id)) !== null;
  if (!isKnown && id !== null && sessionStorage.getItem(begunAgainKey) === null) {
    sessionStorage.setItem(begunAgainKey, '');
    await signIn({ back: '/app/' });
    return 'left';
  }
  try {
    const { state } = await oidc.signinRedirectCallback();
    sessionStorage.removeItem(begunAgainKey);
    const user = keptUser();
    return user === null ? 'failed' : { ...(state as Attempt), user };
  } catch {
    // Answered before, or refused: whoever reads this begins again.
    return 'failed';
  }
};

/** Leaves nothing of whoever was here to the next person in this tab. */
export const signOut = async (): Promise<void> => {
  const oidc = await userManager();
  const idToken = (await oidc.getUser())?.id_token;
  sessionStorage.clear();
  if (signInWays?.endSessionEndpoint === undefined) location.assign(`${base}/app/`);
  else await oidc.signoutRedirect(idToken === undefined ? {} : { id_token_hint: idToken });
};
