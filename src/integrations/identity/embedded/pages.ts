import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import type { Brand } from '../../../platform/brand.js';
import { brandHeader } from '../../../platform/brandHeader.js';
import { Html, html } from '../../../platform/html.js';
import { styleOf } from '../../../platform/pageStyle.js';
import type { TokenResource } from '../port.js';

const noMarkup = new Html('');

/** The problem with the input; screen readers announce it at once, and again with the field. */
const problemMessage = (problem: string | undefined): Html =>
  problem === undefined ? noMarkup : html`<p class="problem" role="alert" id="problem">${problem}</p>`;

const fieldState = (problem: string | undefined): Html =>
  new Html(problem === undefined ? '' : 'aria-invalid="true" aria-describedby="problem"');

const titled = (title: string, problem: string | undefined): string => (problem === undefined ? title : `Problem: ${title}`);

const otherMail = ({ addressAction, email }: { readonly addressAction: string; readonly email?: string }): Html =>
  html`${
      email === undefined
        ? noMarkup
        : html`<form method="post" action="${addressAction}">
            <input type="hidden" name="email" value="${email}" />
            <button type="submit" class="second">Send another mail</button>
          </form>`
    }
    <p class="aside"><a href="${addressAction}">Use another address</a></p>`;

/** What a device may do with a token for a resource. */
const rights: Readonly<Record<TokenResource, string>> = {
  api: 'act in your name: to read and change whatever you may, and to get a key of its own that works until it is revoked',
  mcp: 'let an assistant act in your name: to read and change whatever you may, with its tools',
};

export interface Pages {
  /** Asks for the e-mail address. */
  readonly addressPage: (details: { readonly action: string; readonly email?: string; readonly problem?: string }) => string;
  /** Asks for the code that was mailed. */
  readonly codePage: (details: {
    readonly action: string;
    readonly addressAction: string;
    readonly email: string;
    readonly problem?: string;
  }) => string;
  /**
   * Asks for confirmation in the browser that requested the mail, because programs that open links do
   * not press buttons.
   */
  readonly linkPage: (details: { readonly action: string; readonly secret: string; readonly email: string }) => string;
  /** The link and the code are no longer valid. */
  readonly gonePage: (details: { readonly addressAction: string; readonly email?: string }) => string;
  /**
   * The link was opened in another browser. It is not checked: the code from the mail works in the
   * right one.
   */
  readonly otherBrowserPage: (home: string) => string;
  /** The interaction has ended, or belongs to another browser. */
  readonly expiredPage: (home: string) => string;
  /** The sender's rate limit is reached. */
  readonly busyPage: (home: string) => string;
  /** The authorization request is invalid; the details are for developers of the client. */
  readonly errorPage: (details: { readonly home: string; readonly error: string; readonly description?: string }) => string;
  /** Asks for the code that a device shows (RFC 8628, 3.3). `secret` is that of the form. */
  readonly deviceCodePage: (details: {
    readonly action: string;
    readonly secret: string;
    readonly code?: string;
    readonly problem?: string;
  }) => string;
  /** Which program asks for what, from where, and with which code; confirm or deny. */
  readonly deviceConfirmPage: (details: {
    readonly action: string;
    readonly secret: string;
    readonly code: string;
    readonly client: string;
    readonly resource: TokenResource;
    readonly sender?: string;
    readonly program?: string;
  }) => string;
  readonly deviceDonePage: () => string;
  readonly deviceDeniedPage: () => string;
  /** @param form the markup of a form with the id `op.logoutForm` */
  readonly signOutPage: (form: string) => string;
  readonly signedOutPage: (home: string) => string;
  /**
   * The headers of every sign-in response. Nothing is loaded or framed, and no script runs except the
   * one that oidc-provider adds by its hash, which submits a form to end another account's session.
   * @param origins where forms may lead: browsers also check the redirects that follow a submission
   */
  readonly headers: (origins: readonly string[]) => RequestHandler;
}

/** The pages of sign-in in the agency's name: without scripts, in words for people who do not build software. */
export const createPages = (brand: Brand): Pages => {
  const style = styleOf(brand);
  const styleElement = new Html(`<style>${style}</style>`);

  const page = (title: string, content: Html): string =>
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="description" content="Sign in to ${brand.name} with a link or a code that is mailed to you." />
          <title>${title} – ${brand.name}</title>
          ${styleElement}
        </head>
        <body>
          <div class="card">
            ${brandHeader(brand)}
            <main>${content}</main>
          </div>
        </body>
      </html>`.markup;

  const addressPage: Pages['addressPage'] = (details) =>
    page(
      titled('Sign in', details.problem),
      html`<h1>Sign in</h1>
        <p>Type in your e-mail address. We send you a mail with a link and a code to sign in with; there is no password.</p>
        ${problemMessage(details.problem)}
        <form method="post" action="${details.action}" novalidate>
          <label for="email">E-mail address</label>
          <input
            id="email"
            name="email"
            type="email"
            autocomplete="email"
            autocapitalize="none"
            spellcheck="false"
            maxlength="254"
            required
            autofocus
            value="${details.email ?? ''}"
            ${fieldState(details.problem)}
          />
          <button type="submit">Send me the mail</button>
        </form>`,
    );

  const codePage: Pages['codePage'] = (details) =>
    page(
      titled('Look at your mail', details.problem),
      html`<h1>Look at your mail</h1>
        <p>
          We sent a mail to <strong>${details.email}</strong>. Open the link in it in this browser, or type in its code here.
          Either works once, within 10 minutes.
        </p>
        ${problemMessage(details.problem)}
        <form method="post" action="${details.action}" novalidate>
          <label for="code">Code</label>
          <input
            id="code"
            name="code"
            inputmode="numeric"
            autocomplete="one-time-code"
            maxlength="20"
            required
            autofocus
            ${fieldState(details.problem)}
          />
          <button type="submit">Sign in</button>
        </form>
        ${otherMail(details)}`,
    );

  const linkPage: Pages['linkPage'] = (details) =>
    page(
      'Sign in',
      html`<h1>Sign in</h1>
        <p>You are about to sign in as <strong>${details.email}</strong>.</p>
        <form method="post" action="${details.action}">
          <input type="hidden" name="secret" value="${details.secret}" />
          <button type="submit">Sign in</button>
        </form>`,
    );

  const gonePage: Pages['gonePage'] = (details) =>
    page(
      'Ask for another mail',
      html`<h1>Ask for another mail</h1>
        <p class="problem" role="alert">
          This link or code no longer works: it was used, it is older than 10 minutes, or a newer mail took its place.
        </p>
        ${otherMail(details)}`,
    );

  const otherBrowserPage: Pages['otherBrowserPage'] = (home) =>
    page(
      'Go back to your other browser',
      html`<h1>Go back to your other browser</h1>
        <p>The link works only in the browser in which you began to sign in. There, type in the code from the same mail.</p>
        <p>If you no longer have it open, begin again:</p>
        <a class="button" href="${home}">Begin again</a>`,
    );

  const expiredPage: Pages['expiredPage'] = (home) =>
    page(
      'Begin again',
      html`<h1>Begin again</h1>
        <p>This attempt to sign in has ended, or was begun in another browser.</p>
        <a class="button" href="${home}">Begin again</a>`,
    );

  const busyPage: Pages['busyPage'] = (home) =>
    page(
      'Too many attempts',
      html`<h1>Too many attempts</h1>
        <p>Very many attempts to sign in came from your network. Wait a minute, then begin again.</p>
        <a class="button" href="${home}">Begin again</a>`,
    );

  const errorPage: Pages['errorPage'] = (details) =>
    page(
      'Signing in did not work',
      html`<h1>Signing in did not work</h1>
        <p>What sent you here asked for something that cannot be done.</p>
        <p class="aside">${details.error}${details.description === undefined ? '' : `: ${details.description}`}</p>
        <p class="aside"><a href="${details.home}">Begin again</a></p>`,
    );

  const deviceCodePage: Pages['deviceCodePage'] = (details) =>
    page(
      titled('Connect a device', details.problem),
      html`<h1>Connect a device</h1>
        <p>Type in the code that your device, or the program in your terminal, shows. Only go on if you began this yourself.</p>
        ${problemMessage(details.problem)}
        <form method="post" action="${details.action}" novalidate>
          <input type="hidden" name="xsrf" value="${details.secret}" />
          <label for="code">Code</label>
          <input
            id="code"
            name="user_code"
            class="code"
            autocomplete="off"
            autocapitalize="characters"
            spellcheck="false"
            maxlength="20"
            required
            autofocus
            value="${details.code ?? ''}"
            ${fieldState(details.problem)}
          />
          <button type="submit">Continue</button>
        </form>`,
    );

  const deviceConfirmPage: Pages['deviceConfirmPage'] = (details) =>
    page(
      'Connect this device?',
      html`<h1>Connect this device?</h1>
        <p>Compare: your device must show this code.</p>
        <p class="code"><strong>${details.code}</strong></p>
        <p><strong>${details.client}</strong> asks to ${rights[details.resource]}. You sign in next, to say who you are.</p>
        ${
          details.sender === undefined
            ? noMarkup
            : html`<p class="aside">
                Asked from ${details.sender}${details.program === undefined ? '' : `, by ${details.program.slice(0, 100)}`}.
              </p>`
        }
        <p class="problem">If somebody sent you this code, deny: they would get your access.</p>
        <form method="post" action="${details.action}">
          <input type="hidden" name="xsrf" value="${details.secret}" />
          <input type="hidden" name="user_code" value="${details.code}" />
          <button type="submit" name="confirm" value="yes">Codes match, connect</button>
          <button type="submit" name="abort" value="yes" class="second">Deny</button>
        </form>`,
    );

  const deviceDonePage: Pages['deviceDonePage'] = () =>
    page(
      'Your device is connected',
      html`<h1>Your device is connected</h1>
        <p>Go back to it. You can close this page.</p>`,
    );

  const deviceDeniedPage: Pages['deviceDeniedPage'] = () =>
    page(
      'Nothing was connected',
      html`<h1>Nothing was connected</h1>
        <p>The device gets no access. You can close this page.</p>`,
    );

  const signOutPage: Pages['signOutPage'] = (form) =>
    page(
      'Sign out',
      html`<h1>Sign out?</h1>
        <p>You will be signed out in this browser.</p>
        ${new Html(form)}
        <button type="submit" form="op.logoutForm" value="yes" name="logout">Sign out</button>
        <button type="submit" form="op.logoutForm" class="second">Stay signed in</button>`,
    );

  const signedOutPage: Pages['signedOutPage'] = (home) =>
    page(
      'Signed out',
      html`<h1>You are signed out</h1>
        <p>You can close this page.</p>
        <a class="button" href="${home}">Sign in again</a>`,
    );

  const pageHeaders: Pages['headers'] = (origins) =>
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          scriptSrc: [],
          ...(brand.logo !== undefined && { imgSrc: [new URL(brand.logo).origin] }),
          styleSrc: [`'sha256-${createHash('sha256').update(style).digest('base64')}'`],
          formAction: ["'self'", ...origins],
          baseUri: ["'none'"],
          frameAncestors: ["'none'"],
        },
      },
      frameguard: { action: 'deny' },
      referrerPolicy: { policy: 'no-referrer' },
    });

  return {
    addressPage,
    codePage,
    linkPage,
    gonePage,
    otherBrowserPage,
    expiredPage,
    busyPage,
    deviceCodePage,
    deviceConfirmPage,
    deviceDonePage,
    deviceDeniedPage,
    errorPage,
    signOutPage,
    signedOutPage,
    headers: pageHeaders,
  };
};
