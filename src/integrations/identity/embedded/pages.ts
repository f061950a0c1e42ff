import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import type { Brand } from '../../../platform/brand.js';
import { brandHeader } from '../../../platform/brandHeader.js';
import { Html, html } from '../../../platform/html.js';
import { styleOf } from '../../../platform/pageStyle.js';
import { languageOf, type LanguagePreferences } from '../../../platform/texts/languageOf.js';
import { fill, fillHtml, languages, textsOf, type Language } from '../../../platform/texts/texts.js';
import type { TokenResource } from '../port.js';

const noMarkup = new Html('');

const fieldState = (problem: string | undefined): Html =>
  new Html(problem === undefined ? '' : 'aria-invalid="true" aria-describedby="problem"');

/** The problem with the input; screen readers announce it at once, and again with the field. */
const problemMessage = (problem: string | undefined): Html =>
  problem === undefined ? noMarkup : html`<p class="problem" role="alert" id="problem">${problem}</p>`;

/** What may be wrong with an address, a code, and the code of a device, by the names of their texts. */
export type AddressProblem = 'invalid' | 'tooManyMails' | 'busy' | 'noMail';
export type CodeProblem = 'wrong' | 'tooManyCodes' | 'addressLocked';
export type DeviceCodeProblem = 'missing' | 'unknown' | 'expired' | 'used' | 'formTooOld';

/** The pages in one language. */
export interface Pages {
  readonly language: Language;
  /** Asks for the e-mail address. */
  readonly addressPage: (details: {
    readonly action: string;
    readonly email?: string;
    readonly problem?: AddressProblem;
  }) => string;
  /** Asks for the code that was mailed. */
  readonly codePage: (details: {
    readonly action: string;
    readonly addressAction: string;
    readonly email: string;
    readonly problem?: CodeProblem;
  }) => string;
  /**
   * Asks for confirmation in the browser that requested the mail, because programs that open links do
   * not press buttons.
   */
  readonly linkPage: (details: { readonly action: string; readonly secret: string; readonly email: string }) => string;
  /** The link and the code are no longer valid. */
  readonly gonePage: (details: { readonly addressAction: string; readonly email?: string }) => string;
  /**
   * The link was opened once more after it signed in, or in another browser. It is not checked: the
   * code from the mail works in the right one.
   */
  readonly unusableLinkPage: (home: string) => string;
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
    readonly problem?: DeviceCodeProblem;
  }) => string;
  /** Which program asks for what, from where, and with which code; confirm or deny. */
  readonly deviceConfirmPage: (details: {
    readonly action: string;
    readonly secret: string;
    readonly code: string;
    /** The name of the program; absent: it is the command line of this service. */
    readonly client?: string;
    readonly resource: TokenResource;
    readonly sender?: string;
    readonly program?: string;
  }) => string;
  readonly deviceDonePage: () => string;
  readonly deviceDeniedPage: () => string;
  /**
   * Asks whether to sign out.
   * @param details.form the markup of a form with the id `op.logoutForm`
   * @param details.isCertain whether the page answers itself, where scripts run
   */
  readonly signOutPage: (details: { readonly form: string; readonly isCertain: boolean }) => string;
  readonly signedOutPage: (home: string) => string;
}

/** The pages of sign-in in the agency's name: without scripts, in words for people who do not build software. */
export interface BrandedPages {
  /** Those of the language that a request asks for. */
  readonly pagesFor: (preferences: LanguagePreferences) => Pages;
  /**
   * The headers of every sign-in response. Nothing is loaded or framed, and no script runs except two
   * that are named by their hashes: one presses the button of the page that signs out, and one, which
   * oidc-provider adds, submits a form to end another account's session.
   * @param origins where forms may lead: browsers also check the redirects that follow a submission
   */
  readonly headers: (origins: readonly string[]) => RequestHandler;
}

/** Presses the first button of the page that signs out. */
const signOutScript = `document.querySelector('button[name="logout"]').click();`;

const hashSource = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export const createPages = (brand: Brand): BrandedPages => {
  const style = styleOf(brand);
  const pages = new Map(languages.map((language) => [language, createPagesIn(language, brand, style)]));

  const headers: BrandedPages['headers'] = (origins) =>
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          scriptSrc: [hashSource(signOutScript)],
          ...(brand.logo !== undefined && { imgSrc: [new URL(brand.logo).origin] }),
          styleSrc: [hashSource(style)],
          formAction: ["'self'", ...origins],
          baseUri: ["'none'"],
          frameAncestors: ["'none'"],
        },
      },
      frameguard: { action: 'deny' },
      referrerPolicy: { policy: 'no-referrer' },
    });

  return {
    pagesFor: (preferences) => {
      const language = languageOf(preferences);
      return pages.get(language) ?? createPagesIn(language, brand, style);
    },
    headers,
  };
};

const createPagesIn = (language: Language, brand: Brand, style: string): Pages => {
  const texts = textsOf(language);
  const styleElement = new Html(`<style>${style}</style>`);

  const page = (title: string, content: Html): string =>
    html`<!doctype html>
      <html lang="${language}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="description" content="${fill(texts.page.description, { brand: brand.name })}" />
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

  const titled = (title: string, problem: string | undefined): string =>
    problem === undefined ? title : fill(texts.page.problem, { title });

  const strong = (text: string): Html => html`<strong>${text}</strong>`;

  const beginAgain = (home: string): Html => html`<a class="button" href="${home}">${texts.page.beginAgain}</a>`;

  const otherMail = ({ addressAction, email }: { readonly addressAction: string; readonly email?: string }): Html =>
    html`${
        email === undefined
          ? noMarkup
          : html`<form method="post" action="${addressAction}">
              <input type="hidden" name="email" value="${email}" />
              <button type="submit" class="second">${texts.code.anotherMail}</button>
            </form>`
      }
      <p class="aside"><a href="${addressAction}">${texts.code.otherAddress}</a></p>`;

  const addressPage: Pages['addressPage'] = (details) => {
    const problem = details.problem && texts.address[details.problem];
    return page(
      titled(texts.address.title, problem),
      html`<h1>${texts.address.title}</h1>
        <p>${texts.address.text}</p>
        ${problemMessage(problem)}
        <form method="post" action="${details.action}" novalidate>
          <label for="email">${texts.address.label}</label>
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
            ${fieldState(problem)}
          />
          <button type="submit">${texts.address.send}</button>
        </form>`,
    );
  };

  const codePage: Pages['codePage'] = (details) => {
    const problem = details.problem && texts.code[details.problem];
    return page(
      titled(texts.code.title, problem),
      html`<h1>${texts.code.title}</h1>
        <p>${fillHtml(texts.code.text, { email: strong(details.email) })}</p>
        ${problemMessage(problem)}
        <form method="post" action="${details.action}" novalidate>
          <label for="code">${texts.code.label}</label>
          <input
            id="code"
            name="code"
            inputmode="numeric"
            autocomplete="one-time-code"
            maxlength="20"
            required
            autofocus
            ${fieldState(problem)}
          />
          <button type="submit">${texts.code.signIn}</button>
        </form>
        ${otherMail(details)}`,
    );
  };

  const linkPage: Pages['linkPage'] = (details) =>
    page(
      texts.link.title,
      html`<h1>${texts.link.title}</h1>
        <p>${fillHtml(texts.link.text, { email: strong(details.email) })}</p>
        <form method="post" action="${details.action}">
          <input type="hidden" name="secret" value="${details.secret}" />
          <button type="submit">${texts.link.signIn}</button>
        </form>`,
    );

  const gonePage: Pages['gonePage'] = (details) =>
    page(
      texts.gone.title,
      html`<h1>${texts.gone.title}</h1>
        <p class="problem" role="alert">${texts.gone.text}</p>
        ${otherMail(details)}`,
    );

  const unusableLinkPage: Pages['unusableLinkPage'] = (home) =>
    page(
      texts.unusableLink.title,
      html`<h1>${texts.unusableLink.title}</h1>
        <p>${texts.unusableLink.text}</p>
        <p>${texts.unusableLink.otherwise}</p>
        ${beginAgain(home)}`,
    );

  const expiredPage: Pages['expiredPage'] = (home) =>
    page(
      texts.expired.title,
      html`<h1>${texts.expired.title}</h1>
        <p>${texts.expired.text}</p>
        ${beginAgain(home)}`,
    );

  const busyPage: Pages['busyPage'] = (home) =>
    page(
      texts.busy.title,
      html`<h1>${texts.busy.title}</h1>
        <p>${texts.busy.text}</p>
        ${beginAgain(home)}`,
    );

  const errorPage: Pages['errorPage'] = (details) =>
    page(
      texts.refused.title,
      html`<h1>${texts.refused.title}</h1>
        <p>${texts.refused.text}</p>
        ${beginAgain(details.home)}
        <p class="aside" lang="en">${details.error}${details.description === undefined ? '' : `: ${details.description}`}</p>`,
    );

  const deviceCodePage: Pages['deviceCodePage'] = (details) => {
    const problem = details.problem && texts.deviceCode[details.problem];
    return page(
      titled(texts.deviceCode.title, problem),
      html`<h1>${texts.deviceCode.title}</h1>
        <p>${texts.deviceCode.text}</p>
        ${problemMessage(problem)}
        <form method="post" action="${details.action}" novalidate>
          <input type="hidden" name="xsrf" value="${details.secret}" />
          <label for="code">${texts.deviceCode.label}</label>
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
            ${fieldState(problem)}
          />
          <button type="submit">${texts.deviceCode.goOn}</button>
        </form>`,
    );
  };

  const askedFrom = (sender: string, program: string | undefined): string =>
    program === undefined
      ? fill(texts.deviceConfirm.askedFrom, { sender })
      : fill(texts.deviceConfirm.askedFromBy, { sender, program: program.slice(0, 100) });

  const deviceConfirmPage: Pages['deviceConfirmPage'] = (details) =>
    page(
      texts.deviceConfirm.title,
      html`<h1>${texts.deviceConfirm.title}</h1>
        <p>${texts.deviceConfirm.compare}</p>
        <p class="code"><strong>${details.code}</strong></p>
        <p>
          ${fillHtml(texts.deviceConfirm[details.resource], { client: strong(details.client ?? texts.deviceConfirm.commandLine) })}
        </p>
        ${details.sender === undefined ? noMarkup : html`<p class="aside">${askedFrom(details.sender, details.program)}</p>`}
        <p class="problem">${texts.deviceConfirm.caution}</p>
        <form method="post" action="${details.action}">
          <input type="hidden" name="xsrf" value="${details.secret}" />
          <input type="hidden" name="user_code" value="${details.code}" />
          <button type="submit" name="confirm" value="yes">${texts.deviceConfirm.connect}</button>
          <button type="submit" name="abort" value="yes" class="second">${texts.deviceConfirm.deny}</button>
        </form>`,
    );

  const deviceDonePage: Pages['deviceDonePage'] = () =>
    page(
      texts.deviceDone.title,
      html`<h1>${texts.deviceDone.title}</h1>
        <p>${texts.deviceDone.text}</p>`,
    );

  const deviceDeniedPage: Pages['deviceDeniedPage'] = () =>
    page(
      texts.deviceDenied.title,
      html`<h1>${texts.deviceDenied.title}</h1>
        <p>${texts.deviceDenied.text}</p>`,
    );

  const signOutPage: Pages['signOutPage'] = ({ form, isCertain }) =>
    page(
      texts.signOut.title,
      html`<h1>${texts.signOut.title}</h1>
        <p>${texts.signOut.text}</p>
        ${new Html(form)}
        <button type="submit" form="op.logoutForm" value="yes" name="logout">${texts.signOut.signOut}</button>
        <button type="submit" form="op.logoutForm" class="second">${texts.signOut.stay}</button>
        ${isCertain ? new Html(`<script>${signOutScript}</script>`) : noMarkup}`,
    );

  const signedOutPage: Pages['signedOutPage'] = (home) =>
    page(
      texts.signedOut.title,
      html`<h1>${texts.signedOut.title}</h1>
        <p>${texts.signedOut.text}</p>
        <a class="button" href="${home}">${texts.signedOut.signIn}</a>`,
    );

  return {
    language,
    addressPage,
    codePage,
    linkPage,
    gonePage,
    unusableLinkPage,
    expiredPage,
    busyPage,
    deviceCodePage,
    deviceConfirmPage,
    deviceDonePage,
    deviceDeniedPage,
    errorPage,
    signOutPage,
    signedOutPage,
  };
};
