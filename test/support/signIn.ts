import * as client from 'openid-client';
import type { OutboxMail } from '../../src/integrations/email/port.js';

/** A minimal browser for sign-in: stores cookies by path, posts forms and follows redirects. */
export interface Browser {
  get(url: string): Promise<Page>;
  post(url: string, form: Readonly<Record<string, string>>): Promise<Page>;
  /** The names of its cookies. */
  cookies(): readonly string[];
  /** Every `Set-Cookie` that it was sent. */
  readonly setCookies: readonly string[];
}

export interface Page {
  readonly status: number;
  /** The page's address, or the address of another program that it was redirected to. */
  readonly url: string;
  readonly text: string;
  readonly headers: Headers;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

/**
 * The service behind a TLS proxy: `baseUrl` is the public address, `via` that of one of its
 * processes.
 */
export interface Place {
  readonly baseUrl: string;
  readonly via: () => string;
}

const toLocalUrl = ({ baseUrl, via }: Place, url: string): string => via() + url.slice(baseUrl.length);

/** @param acceptLanguage the header of its requests. Default: that of `fetch`, which reads anything */
export const createBrowser = (place: Place, acceptLanguage = '*'): Browser => {
  const jar = new Map<string, Cookie>();
  const setCookies: string[] = [];

  const keep = (headers: Headers): void => {
    for (const line of headers.getSetCookie()) {
      setCookies.push(line);
      const [pair = '', ...attributes] = line.split(/;\s*/);
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? '/';
      const isGone = attributes.some((attribute) => /^expires=thu, 01 jan 1970/i.test(attribute));
      if (isGone) jar.delete(`${path} ${name}`);
      else jar.set(`${path} ${name}`, { name, value, path });
    }
  };

  const cookiesFor = (url: string): string =>
    [...jar.values()]
      .filter(({ path }) => `${new URL(url).pathname}/`.startsWith(path.endsWith('/') ? path : `${path}/`))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');

  const ask = async (url: string, init: RequestInit): Promise<Page> => {
    if (!url.startsWith(`${place.baseUrl}/oidc/`)) return { status: 0, url, text: '', headers: new Headers() };
    const headers = new Headers(init.headers);
    headers.set('accept', 'text/html');
    headers.set('accept-language', acceptLanguage);
    headers.set('cookie', cookiesFor(url));
    const response = await fetch(toLocalUrl(place, url), { ...init, redirect: 'manual', headers });
    keep(response.headers);
    const text = await response.text();
    const location = response.headers.get('location');
    if (location === null) return { status: response.status, url, text, headers: response.headers };
    return ask(new URL(location, url).href, {});
  };

  return {
    get: (url) => ask(url, {}),
    post: (url, form) =>
      ask(url, {
        method: 'POST',
        body: new URLSearchParams(form).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    cookies: () => [...jar.values()].map(({ name }) => name),
    setCookies,
  };
};

/** An authorization request of the portal. */
export interface Attempt {
  readonly url: string;
  readonly verifier: string;
  readonly state: string;
}

export const discover = (place: Place, clientId = 'doorstep-portal'): Promise<client.Configuration> =>
  client.discovery(new URL(`${place.baseUrl}/oidc`), clientId, undefined, client.None(), {
    [client.customFetch]: (url, init) => fetch(toLocalUrl(place, url), { ...init, body: init.body ?? null }),
  });

export const beginSignIn = async (
  config: client.Configuration,
  redirectUri: string,
  extra: Readonly<Record<string, string>> = {},
): Promise<Attempt> => {
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid email profile',
    state,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...extra,
  });
  return { url: url.href, verifier, state };
};

export type Tokens = client.TokenEndpointResponse & client.TokenEndpointResponseHelpers;

export const finishSignIn = (config: client.Configuration, attempt: Attempt, answer: string): Promise<Tokens> =>
  client.authorizationCodeGrant(config, new URL(answer), {
    pkceCodeVerifier: attempt.verifier,
    expectedState: attempt.state,
    idTokenExpected: true,
  });

/** The error that a promise of openid-client ends with. */
export const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof client.ResponseBodyError ? error.error : error),
  );

/** The link and the code of a mail. */
export const codeIn = ({ text }: OutboxMail): string => /\b\d{4} \d{4}\b/.exec(text)?.[0] ?? '';
export const linkIn = ({ links }: OutboxMail): string => links[0] ?? '';
export const secretIn = (mail: OutboxMail): string => new URL(linkIn(mail)).searchParams.get('secret') ?? '';

/** Presses the button of the page that a mail's link leads to. */
export const pressLink = (browser: Browser, mail: OutboxMail): Promise<Page> =>
  browser.post(linkIn(mail).split('?')[0] ?? '', { secret: secretIn(mail) });

/** A page's title, without the name of the service. */
export const titleOf = ({ text }: Page): string => /<title>(.*?) – Doorstep<\/title>/.exec(text)?.[1] ?? '';
/** What the form of a page has to send along. */
export const xsrfIn = ({ text }: Page): string => /name="xsrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
