import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response, type Router } from 'express';
import type { default as Provider } from 'oidc-provider';
import type { Logger } from '../../../platform/logger.js';
import type { Language } from '../../../platform/texts/texts.js';
import { ProviderFault } from '../../fault.js';
import type { Accounts } from './accounts.js';
import { challengeLimits, type Challenges } from './challenges.js';
import { retryAfter, type Limits } from './limits.js';
import type { BrandedPages, CodeProblem, Pages } from './pages.js';
import { preferencesOf } from './preferences.js';
import { canonicalAddress } from '../../../platform/emailAddress.js';

const maxBodySize = '4kb';

/** When another code is accepted, at the latest. */
const retryAfterMs = {
  tooManyCodes: challengeLimits.codesOfMail.windowMs,
  addressLocked: challengeLimits.wrongCodesOfAddress.windowMs,
} as const;

/** An attempt to sign in, with the pages of its language. */
interface Interaction {
  readonly uid: string;
  /** The address that the program asks for. */
  readonly hint: string | undefined;
  readonly pages: Pages;
}

/**
 * The pages of sign-in, below the issuer's address: e-mail address, then link or code. They work
 * only in the browser that started the interaction and holds its cookie, and only a POST signs in.
 */
export const createSignInRoutes = (parts: {
  provider: Provider;
  /** Without a trailing slash. */
  issuer: string;
  baseUrl: string;
  accounts: Accounts;
  challenges: Challenges;
  pages: Pick<BrandedPages, 'pagesFor'>;
  limits: Pick<Limits, 'mail' | 'senderOf'>;
  logger: Logger;
}): Router => {
  const { provider, issuer, baseUrl, accounts, challenges, limits, logger } = parts;
  const { pagesFor } = parts.pages;

  const urlsOf = (interaction: string) => {
    const begin = `${issuer}/sign-in/${interaction}`;
    return { action: begin, addressAction: begin, codeAction: `${begin}/code`, linkAction: `${begin}/link` };
  };

  /** The interaction of this browser; null when it has another one, or none. */
  const interactionOf = async (request: Request, response: Response): Promise<Interaction | null> => {
    try {
      const { uid, params } = await provider.interactionDetails(request, response);
      if (uid !== request.params.uid) return null;
      const given = (name: string): string | undefined => {
        const value = params[name];
        return typeof value === 'string' ? value : undefined;
      };
      return { uid, hint: given('login_hint'), pages: pagesFor(preferencesOf(request, given('ui_locales'))) };
    } catch (error) {
      if (error instanceof Error && error.name === 'SessionNotFound') return null;
      throw error;
    }
  };

  const send = (response: Response, status: number, markup: string): void => {
    response.status(status).set('cache-control', 'no-store').type('html').send(markup);
  };

  const handle =
    (
      work: (interaction: Interaction, request: Request, response: Response) => Promise<void>,
      pageWithout = (pages: Pages): string => pages.expiredPage(baseUrl),
    ): RequestHandler =>
    (request, response, next) => {
      interactionOf(request, response)
        .then(async (interaction) => {
          if (interaction === null) send(response, 400, pageWithout(pagesFor(preferencesOf(request))));
          else await work(interaction, request, response);
        })
        .catch(next);
    };

  const signIn = async (request: Request, response: Response, email: string, language: Language): Promise<void> => {
    const { subject } = await accounts.ofEmail(email, language);
    await provider.interactionFinished(request, response, { login: { accountId: subject, amr: ['otp'] } });
  };

  const sendGone = async (response: Response, { uid, pages }: Interaction): Promise<void> => {
    const email = await challenges.sentTo(uid);
    send(response, 400, pages.gonePage({ ...urlsOf(uid), ...(email !== null && { email }) }));
  };

  const sendProblem = async (response: Response, interaction: Interaction, problem: CodeProblem): Promise<void> => {
    const { uid, pages } = interaction;
    const email = await challenges.sentTo(uid);
    if (email === null) return sendGone(response, interaction);
    const { codeAction, addressAction } = urlsOf(uid);
    if (problem !== 'wrong') response.set(retryAfter(retryAfterMs[problem]));
    send(response, problem === 'wrong' ? 400 : 429, pages.codePage({ action: codeAction, addressAction, email, problem }));
  };

  const router = express.Router({ caseSensitive: true, strict: true });
  /** The cookie before the body, and again after it: the attempt may have ended meanwhile. */
  const form: readonly RequestHandler[] = [
    (request, response, next) => {
      interactionOf(request, response).then((interaction) => {
        if (interaction === null) send(response, 400, pagesFor(preferencesOf(request)).expiredPage(baseUrl));
        else next();
      }, next);
    },
    express.urlencoded({ extended: false, limit: maxBodySize, parameterLimit: 10 }),
  ];

  router
    .route('/sign-in/:uid')
    .get(
      handle(async ({ uid, hint, pages }, _request, response) => {
        const email = (await challenges.sentTo(uid)) ?? hint;
        send(response, 200, pages.addressPage({ ...urlsOf(uid), ...(email !== undefined && { email }) }));
      }),
    )
    .post(
      ...form,
      handle(async ({ uid, pages }, request, response) => {
        const email = canonicalAddress(fieldOf(request, 'email').trim());
        const { action, codeAction, linkAction } = urlsOf(uid);
        if (!isEmailAddress(email)) {
          send(response, 400, pages.addressPage({ action, email, problem: 'invalid' }));
          return;
        }
        const sender = limits.senderOf(request);
        const waitMs = limits.mail(sender);
        if (waitMs > 0) {
          response.set(retryAfter(waitMs));
          send(response, 429, pages.addressPage({ action, email, problem: 'busy' }));
          return;
        }
        try {
          // The link may be opened in a browser that speaks another language.
          const linkOf = (secret: string): string => `${linkAction}?secret=${secret}&ui_locales=${pages.language}`;
          if (await challenges.send({ interaction: uid, email, sender, linkOf, language: pages.language })) {
            response.redirect(303, codeAction);
          } else {
            response.set(retryAfter(challengeLimits.mailsOfAddress.windowMs));
            send(response, 429, pages.addressPage({ action, email, problem: 'tooManyMails' }));
          }
        } catch (error) {
          if (!(error instanceof ProviderFault)) throw error;
          logger.warn({ err: error }, 'a sign-in mail could not be sent');
          send(response, 503, pages.addressPage({ action, email, problem: 'noMail' }));
        }
      }),
    );

  router
    .route('/sign-in/:uid/code')
    .get(
      handle(async ({ uid, pages }, _request, response) => {
        const email = await challenges.sentTo(uid);
        const { codeAction, addressAction } = urlsOf(uid);
        if (email === null) response.redirect(303, addressAction);
        else send(response, 200, pages.codePage({ action: codeAction, addressAction, email }));
      }),
    )
    .post(
      ...form,
      handle(async (interaction, request, response) => {
        const redeemed = await challenges.redeemCode(interaction.uid, fieldOf(request, 'code'), limits.senderOf(request));
        if (redeemed === 'gone') await sendGone(response, interaction);
        else if (typeof redeemed === 'string') await sendProblem(response, interaction, redeemed);
        else await signIn(request, response, redeemed.email, interaction.pages.language);
      }),
    );

  router
    .route('/sign-in/:uid/link')
    .get(
      handle(
        async (interaction, request, response) => {
          const { uid, pages } = interaction;
          const secret = new URL(request.originalUrl, issuer).searchParams.get('secret') ?? '';
          const email = await challenges.linkOf(uid, secret);
          if (email === null) await sendGone(response, interaction);
          else send(response, 200, pages.linkPage({ action: urlsOf(uid).linkAction, secret, email }));
        },
        (pages) => pages.unusableLinkPage(baseUrl),
      ),
    )
    .post(
      ...form,
      handle(async (interaction, request, response) => {
        const redeemed = await challenges.redeemLink(interaction.uid, fieldOf(request, 'secret'));
        if (typeof redeemed === 'string') await sendGone(response, interaction);
        else await signIn(request, response, redeemed.email, interaction.pages.language);
      }),
    );

  const onError: ErrorRequestHandler = (error: unknown, request, response, next) => {
    // The body came to an end, or to none, after the answer.
    if (response.headersSent) return;
    // A request body that none of our pages sends.
    const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
    if (typeof status === 'number' && status >= 400 && status < 500) {
      send(response, status, pagesFor(preferencesOf(request)).expiredPage(baseUrl));
    } else next(error);
  };
  router.use('/sign-in', onError);
  return router;
};

const fieldOf = ({ body }: { body?: unknown }, name: string): string => {
  const value: unknown =
    typeof body === 'object' && body !== null && Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' ? value : '';
};

/**
 * Strict enough for an SMTP envelope (RFC 5321, 4.5.3.1.3). Whether the mailbox exists, only the
 * mail can show.
 */
const isEmailAddress = (text: string): boolean =>
  text.length <= 254 && /^[^\s@<>",;:()[\]\\\p{Cc}]+@[^\s@<>",;:()[\]\\\p{Cc}]+$/u.test(text);
