import { button, problem, quiet, show, strong, text, title } from './dom.js';

const { dataset } = document.documentElement;
/** Path of the service's address, without a trailing slash. */
export const base = dataset.base ?? '';
/** The agency's name. */
export const brand = dataset.brand ?? '';

const store = { token: 'doorstep.token', attempt: 'doorstep.attempt' };

/** @typedef {{ status: number, body: unknown }} Answer */
/** @typedef {{ verifier: string, state: string, back: string }} Attempt - to sign in */

/** Nobody is signed in, or no longer. */
export class SignedOut extends Error {}

/** @param {Uint8Array<ArrayBuffer>} bytes */
const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

export const isSignedIn = () => sessionStorage.getItem(store.token) !== null;

const redirectUri = () => `${location.origin}${base}/app/callback`;

/**
 * Leads to the identity provider, which leads back to this page (RFC 7636).
 * @param {{ anew?: boolean }} how - `anew`: asks who it is, whoever is signed in there
 */
export const signIn = async ({ anew = false } = {}) => {
  const { clientId, authorizationEndpoint, audience } = dataset;
  // Browsers have this on https and on this machine only.
  if (clientId === undefined || authorizationEndpoint === undefined || !isSecureContext) {
    show('Sign in', title('Signing in is not possible here'), text(cannotSignIn()));
    return;
  }
  const [verifier, state] = [random(), random()];
  sessionStorage.removeItem(store.token);
  sessionStorage.setItem(store.attempt, JSON.stringify({ verifier, state, back: location.pathname }));
  const challenge = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)));
  const url = new URL(authorizationEndpoint);
  for (const [name, value] of Object.entries({
    client_id: clientId,
    response_type: 'code',
    scope: 'openid email profile',
    redirect_uri: redirectUri(),
    state,
    code_challenge: base64url(challenge),
    code_challenge_method: 'S256',
    ...(audience !== undefined && { audience }),
    ...(anew && { prompt: 'login' }),
  })) {
    url.searchParams.set(name, value);
  }
  location.assign(url);
};

const cannotSignIn = () =>
  isSecureContext
    ? `${brand} has not set up signing in with a browser. Ask there.`
    : 'A browser signs in over https only. Open this page by its https address.';

/** @param {string} json @returns {unknown} */
const parse = (json) => JSON.parse(json);

/**
 * Takes up what the identity provider has led back with.
 * @returns {Promise<string | null>} the path to go on at; null when the attempt has failed
 */
export const completeSignIn = async () => {
  const { clientId = '', tokenEndpoint = '' } = dataset;
  const answered = new URL(location.href).searchParams;
  const attempt = /** @type {Attempt | null} */ (parse(sessionStorage.getItem(store.attempt) ?? 'null'));
  sessionStorage.removeItem(store.attempt);
  const code = answered.get('code');
  if (attempt === null || code === null || answered.get('state') !== attempt.state) return null;
  const response = await fetch(tokenEndpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      redirect_uri: redirectUri(),
      code_verifier: attempt.verifier,
    }),
  });
  if (!response.ok) return null;
  const { access_token: token } = /** @type {{ access_token?: string }} */ (parse(await response.text()));
  if (token === undefined) return null;
  sessionStorage.setItem(store.token, token);
  return attempt.back;
};

export const signOut = () => {
  sessionStorage.removeItem(store.token);
  const { endSessionEndpoint, clientId = '' } = dataset;
  const home = `${location.origin}${base}/app/`;
  if (endSessionEndpoint === undefined) {
    location.assign(home);
    return;
  }
  const url = new URL(endSessionEndpoint);
  url.searchParams.set('client_id', clientId);
  url.searchParams.set('post_logout_redirect_uri', home);
  location.assign(url);
};

/**
 * Asks the service as whoever is signed in.
 * @param {string} method
 * @param {string} path
 * @returns {Promise<Answer>}
 * @throws {SignedOut}
 */
export const ask = async (method, path) => {
  const token = sessionStorage.getItem(store.token);
  if (token === null) throw new SignedOut();
  const response = await fetch(base + path, { method, headers: { authorization: `Bearer ${token}` } });
  if (response.status === 401) {
    sessionStorage.removeItem(store.token);
    throw new SignedOut();
  }
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return { status: response.status, body: isJson ? parse(await response.text()) : null };
};

/** @param {string} email */
export const signedInAs = (email) => quiet('You are signed in as ', strong(email), '. ', inlineButton('Sign out', signOut));

/** @param {string} words @param {() => void} act */
const inlineButton = (words, act) => {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = 'inline';
  made.textContent = words;
  made.addEventListener('click', act);
  return made;
};

/**
 * Something that could not be done now, with the service's words for it.
 * @param {Answer} answer
 * @param {() => Promise<void>} again
 */
export const showFault = ({ status, body }, again) => {
  const { error } = /** @type {{ error?: string }} */ (body ?? {});
  const words = error ?? `The service answered with ${String(status)}`;
  show('Problem', title('That did not work'), problem(`${words}.`), button('Try again', again));
};
