import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response, type Router } from 'express';
import type { default as Provider } from 'oidc-provider';
import type { Logger } from '../../../platform/logger.js';
import { ProviderFault } from '../../fault.js';
import type { Accounts } from './accounts.js';
import { challengeLimits, type Challenges, type NotRedeemed } from './challenges.js';
import { retryAfter, type Limits } from './limits.js';
import type { Pages } from './pages.js';
import { canonicalAddress } from '../../../platform/emailAddress.js';

const maxBodySize = '4kb';

const problems = {
  address: 'This is not an e-mail address.',
  tooManyMails: 'Too many mails were asked for. Use the newest one, or wait 15 minutes.',
  busy: 'Very many mails were asked for from your network. Wait a minute, then try again.',
  noMail: 'The mail could not be sent. Try again in a moment.',
  wrong: 'This is not the code in the newest mail.',
  tooManyCodes: 'Too many codes were tried. Ask for another mail.',
  addressLocked: 'Too many codes were tried for this address. Open the link in the mail, or wait an hour.',
} as const;

/** When another code is accepted, at the latest. */
const retryAfterMs = {
  tooManyCodes: challengeLimits.codesOfMail.windowMs,
  addressLocked: challengeLimits.wrongCodesOfAddress.windowMs,
} as const;

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
  pages: Pages;
  limits: Pick<Limits, 'mail' | 'senderOf'>;
  logger: Logger;
}): Router => {
  const { provider, issuer, baseUrl, accounts, challenges, limits, logger } = parts;
  const { addressPage, codePage, expiredPage, gonePage, linkPage, otherBrowserPage } = parts.pages;

  const urlsOf = (interaction: string) => {
    const begin = `${issuer}/sign-in/${interaction}`;
    return { action: begin, addressAction: begin, codeAction: `${begin}/code`, linkAction: `${begin}/link` };
  };

  /** The interaction of this browser; null when it has another one, or none. */
  const interactionOf = async (
    request: Request,
    response: Response,
  ): Promise<{ uid: string; hint: string | undefined } | null> => {
    try {
      const { uid, params } = await provider.interactionDetails(request, response);
      const { login_hint: hint } = params;
      return uid === request.params.uid ? { uid, hint: typeof hint === 'string' ? hint : undefined } : null;
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
      work: (uid: string, request: Request, response: Response, hint: string | undefined) => Promise<void>,
      otherBrowser: (homeUrl: string) => string = expiredPage,
    ): RequestHandler =>
    (request, response, next) => {
      interactionOf(request, response)
        .then(async (interaction) => {
          if (interaction === null) send(response, 400, otherBrowser(baseUrl));
          else await work(interaction.uid, request, response, interaction.hint);
        })
        .catch(next);
    };

  const signIn = async (request: Request, response: Response, email: string): Promise<void> => {
    const { subject } = await accounts.ofEmail(email);
    await provider.interactionFinished(request, response, { login: { accountId: subject, amr: ['otp'] } });
  };

  const sendGone = async (response: Response, uid: string): Promise<void> => {
    const email = await challenges.sentTo(uid);
    send(response, 400, gonePage({ ...urlsOf(uid), ...(email !== null && { email }) }));
  };

  const sendProblem = async (response: Response, uid: string, why: Exclude<NotRedeemed, 'gone'>): Promise<void> => {
    const email = await challenges.sentTo(uid);
    if (email === null) return sendGone(response, uid);
    const { codeAction, addressAction } = urlsOf(uid);
    if (why !== 'wrong') response.set(retryAfter(retryAfterMs[why]));
    send(response, why === 'wrong' ? 400 : 429, codePage({ action: codeAction, addressAction, email, problem: problems[why] }));
  };

  const router = express.Router({ caseSensitive: true, strict: true });
  /** The cookie before the body, and again after it: the attempt may have ended meanwhile. */
  const form: readonly RequestHandler[] = [
    (request, response, next) => {
      interactionOf(request, response).then((interaction) => {
        if (interaction === null) send(response, 400, expiredPage(baseUrl));
        else next();
      }, next);
    },
    express.urlencoded({ extended: false, limit: maxBodySize, parameterLimit: 10 }),
  ];

  router
    .route('/sign-in/:uid')
    .get(
      handle(async (uid, _request, response, hint) => {
        const email = (await challenges.sentTo(uid)) ?? hint;
        send(response, 200, addressPage({ ...urlsOf(uid), ...(email !== undefined && { email }) }));
      }),
    )
    .post(
      ...form,
      handle(async (uid, request, response) => {
        const email = canonicalAddress(fieldOf(request, 'email').trim());
        const { action, codeAction, linkAction } = urlsOf(uid);
        if (!isEmailAddress(email)) {
          send(response, 400, addressPage({ action, email, problem: problems.address }));
          return;
        }
        const sender = limits.senderOf(request);
        const waitMs = limits.mail(sender);
        if (waitMs > 0) {
          response.set(retryAfter(waitMs));
          send(response, 429, addressPage({ action, email, problem: problems.busy }));
          return;
        }
        try {
          if (await challenges.send(uid, email, sender, (secret) => `${linkAction}?secret=${secret}`)) {
            response.redirect(303, codeAction);
          } else {
            response.set(retryAfter(challengeLimits.mailsOfAddress.windowMs));
            send(response, 429, addressPage({ action, email, problem: problems.tooManyMails }));
          }
        } catch (error) {
          if (!(error instanceof ProviderFault)) throw error;
          logger.warn({ err: error }, 'a sign-in mail could not be sent');
          send(response, 503, addressPage({ action, email, problem: problems.noMail }));
        }
      }),
    );

  router
    .route('/sign-in/:uid/code')
    .get(
      handle(async (uid, _request, response) => {
        const email = await challenges.sentTo(uid);
        const { codeAction, addressAction } = urlsOf(uid);
        if (email === null) response.redirect(303, addressAction);
        else send(response, 200, codePage({ action: codeAction, addressAction, email }));
      }),
    )
    .post(
      ...form,
      handle(async (uid, request, response) => {
        const redeemed = await challenges.redeemCode(uid, fieldOf(request, 'code'));
        if (redeemed === 'gone') await sendGone(response, uid);
        else if (typeof redeemed === 'string') await sendProblem(response, uid, redeemed);
        else await signIn(request, response, redeemed.email);
      }),
    );

  router
    .route('/sign-in/:uid/link')
    .get(
      handle(async (uid, request, response) => {
        const secret = new URL(request.originalUrl, issuer).searchParams.get('secret') ?? '';
        const email = await challenges.linkOf(uid, secret);
        if (email === null) await sendGone(response, uid);
        else send(response, 200, linkPage({ action: urlsOf(uid).linkAction, secret, email }));
      }, otherBrowserPage),
    )
    .post(
      ...form,
      handle(async (uid, request, response) => {
        const redeemed = await challenges.redeemLink(uid, fieldOf(request, 'secret'));
        if (typeof redeemed === 'string') await sendGone(response, uid);
        else await signIn(request, response, redeemed.email);
      }),
    );

  const onError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
    // The body came to an end, or to none, after the answer.
    if (response.headersSent) return;
    // A request body that none of our pages sends.
    const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
    if (typeof status === 'number' && status >= 400 && status < 500) send(response, status, expiredPage(baseUrl));
    else next(error);
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
