import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response, type Router } from 'express';
import type { default as Provider } from 'oidc-provider';
import type { Logger } from '../../../platform/logger.js';
import { ProviderFault } from '../../fault.js';
import type { Accounts } from './accounts.js';
import { challengeLimits, type Challenges, type NotRedeemed } from './challenges.js';
import { retryAfter, senderIn, type Limits } from './limits.js';
import { addressPage, codePage, expiredPage, gonePage, linkPage, otherBrowserPage } from './pages.js';

const longestBody = '4kb';

const problems = {
  address: 'This is not an e-mail address.',
  tooManyMails: 'Too many mails were asked for. Use the newest one, or wait 15 minutes.',
  busy: 'Very many mails were asked for from your network. Wait a minute, then try again.',
  noMail: 'The mail could not be sent. Try again in a moment.',
  wrong: 'This is not the code in the newest mail.',
  tooManyCodes: 'Too many codes were tried. Ask for another mail.',
  addressLocked: 'Too many codes were tried for this address. Open the link in the mail, or wait an hour.',
} as const;

/** After how long another code is looked at, at the latest. */
const untilAgainMs = {
  tooManyCodes: challengeLimits.codesOfMail.lifeMs,
  addressLocked: challengeLimits.wrongCodesOfAddress.lifeMs,
} as const;

/**
 * The pages between the request for signing in and its answer, below the issuer's address: address, then link or code. Only the
 * browser that began, which holds the interaction's cookie, ever gets further, and only a POST signs in.
 */
export const createSignInRoutes = (parts: {
  provider: Provider;
  /** Without a trailing slash. */
  issuer: string;
  baseUrl: string;
  accounts: Accounts;
  challenges: Challenges;
  limits: Pick<Limits, 'mail'>;
  logger: Logger;
}): Router => {
  const { provider, issuer, baseUrl, accounts, challenges, limits, logger } = parts;

  const actionsOf = (interaction: string) => {
    const begin = `${issuer}/sign-in/${interaction}`;
    return { action: begin, addressAction: begin, codeAction: `${begin}/code`, linkAction: `${begin}/link` };
  };

  /** The interaction of this browser. */
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

  const show = (response: Response, status: number, markup: string): void => {
    response.status(status).set('cache-control', 'no-store').type('html').send(markup);
  };

  const handle =
    (
      work: (uid: string, request: Request, response: Response, hint: string | undefined) => Promise<void>,
      elsewhere: (home: string) => string = expiredPage,
    ): RequestHandler =>
    (request, response, next) => {
      interactionOf(request, response)
        .then(async (interaction) => {
          if (interaction === null) show(response, 400, elsewhere(baseUrl));
          else await work(interaction.uid, request, response, interaction.hint);
        })
        .catch(next);
    };

  const signIn = async (request: Request, response: Response, email: string): Promise<void> => {
    const { subject } = await accounts.ofEmail(email);
    await provider.interactionFinished(request, response, { login: { accountId: subject, amr: ['otp'] } });
  };

  const showGone = async (response: Response, uid: string): Promise<void> => {
    const email = await challenges.sentTo(uid);
    show(response, 400, gonePage({ ...actionsOf(uid), ...(email !== null && { email }) }));
  };

  const showProblem = async (response: Response, uid: string, why: Exclude<NotRedeemed, 'gone'>): Promise<void> => {
    const email = await challenges.sentTo(uid);
    if (email === null) return showGone(response, uid);
    const { codeAction, addressAction } = actionsOf(uid);
    if (why !== 'wrong') response.set(retryAfter(untilAgainMs[why]));
    show(response, why === 'wrong' ? 400 : 429, codePage({ action: codeAction, addressAction, email, problem: problems[why] }));
  };

  const router = express.Router({ caseSensitive: true, strict: true });
  const form = express.urlencoded({ extended: false, limit: longestBody, parameterLimit: 10 });

  router
    .route('/sign-in/:uid')
    .get(
      handle(async (uid, _request, response, hint) => {
        const email = (await challenges.sentTo(uid)) ?? hint;
        show(response, 200, addressPage({ ...actionsOf(uid), ...(email !== undefined && { email }) }));
      }),
    )
    .post(
      form,
      handle(async (uid, request, response) => {
        const email = fieldOf(request, 'email').trim().toLowerCase();
        const { action, codeAction, linkAction } = actionsOf(uid);
        if (!isAddress(email)) {
          show(response, 400, addressPage({ action, email, problem: problems.address }));
          return;
        }
        const sender = senderIn(request);
        const waitMs = limits.mail(sender);
        if (waitMs > 0) {
          response.set(retryAfter(waitMs));
          show(response, 429, addressPage({ action, email, problem: problems.busy }));
          return;
        }
        try {
          if (await challenges.send(uid, email, sender, (secret) => `${linkAction}?secret=${secret}`)) {
            response.redirect(303, codeAction);
          } else {
            response.set(retryAfter(challengeLimits.mailsOfAddress.lifeMs));
            show(response, 429, addressPage({ action, email, problem: problems.tooManyMails }));
          }
        } catch (error) {
          if (!(error instanceof ProviderFault)) throw error;
          logger.warn({ err: error }, 'a mail for signing in could not be sent');
          show(response, 503, addressPage({ action, email, problem: problems.noMail }));
        }
      }),
    );

  router
    .route('/sign-in/:uid/code')
    .get(
      handle(async (uid, _request, response) => {
        const email = await challenges.sentTo(uid);
        const { codeAction, addressAction } = actionsOf(uid);
        if (email === null) response.redirect(303, addressAction);
        else show(response, 200, codePage({ action: codeAction, addressAction, email }));
      }),
    )
    .post(
      form,
      handle(async (uid, request, response) => {
        const redeemed = await challenges.redeemCode(uid, fieldOf(request, 'code'));
        if (redeemed === 'gone') await showGone(response, uid);
        else if (typeof redeemed === 'string') await showProblem(response, uid, redeemed);
        else await signIn(request, response, redeemed.email);
      }),
    );

  router
    .route('/sign-in/:uid/link')
    .get(
      handle(async (uid, request, response) => {
        const secret = new URL(request.originalUrl, issuer).searchParams.get('secret') ?? '';
        const email = await challenges.linkOf(uid, secret);
        if (email === null) await showGone(response, uid);
        else show(response, 200, linkPage({ action: actionsOf(uid).linkAction, secret, email }));
      }, otherBrowserPage),
    )
    .post(
      form,
      handle(async (uid, request, response) => {
        const redeemed = await challenges.redeemLink(uid, fieldOf(request, 'secret'));
        if (typeof redeemed === 'string') await showGone(response, uid);
        else await signIn(request, response, redeemed.email);
      }),
    );

  const onError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
    // A form that no page of ours sends.
    const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
    if (typeof status === 'number' && status >= 400 && status < 500) show(response, status, expiredPage(baseUrl));
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

/** As strict as it takes to put it on an envelope (RFC 5321, 4.5.3.1.3): whether there is such a mailbox, the mail shows. */
const isAddress = (text: string): boolean =>
  text.length <= 254 && /^[^\s@<>",;:()[\]\\\p{Cc}]+@[^\s@<>",;:()[\]\\\p{Cc}]+$/u.test(text);
