import type { IncomingMessage } from 'node:http';
import express, { type RequestHandler, type Router } from 'express';
import type { Logger } from '../../../platform/logger.js';
import type { EncryptedRecords } from './encryptedRecords.js';
import { retryAfter, type Limits } from './limits.js';
import type { BrandedPages } from './pages.js';
import { preferencesOf } from './preferences.js';

/**
 * Codes that one sender may try without any of them being a device's; in records, so that it holds
 * for all processes. A code is one of 2.6 * 10^10.
 */
const wrongCodesOfSender = { max: 30, windowMs: 60 * 60_000 } as const;

/** Characters of the code in an address; more than one has. */
export const maxUserCode = 20;

const requestedCodes = new WeakMap<IncomingMessage, string>();

/** The code in the address that a device shows as a whole (RFC 8628, 3.3.1). */
export const requestedCodeOf = (request: IncomingMessage): string | undefined => requestedCodes.get(request);

/** What comes before oidc-provider's own handling of the page on which a device is approved. */
export const createDeviceRoutes = (parts: {
  records: EncryptedRecords;
  limits: Pick<Limits, 'senderOf'>;
  pages: Pick<BrandedPages, 'pagesFor'>;
  baseUrl: string;
  logger: Logger;
}): Router => {
  const { records, limits, pages, baseUrl, logger } = parts;

  /**
   * oidc-provider would post the code of an address at once, by a script. It is shown in the form
   * instead, to be compared.
   */
  const prefill: RequestHandler = (request, _response, next) => {
    const [, query = ''] = request.url.split('?', 2);
    const code = new URLSearchParams(query).get('user_code');
    if (code !== null) requestedCodes.set(request, code.slice(0, maxUserCode));
    const withoutQuery = (url: string): string => url.split('?', 1)[0] ?? url;
    request.url = withoutQuery(request.url);
    request.originalUrl = withoutQuery(request.originalUrl);
    next();
  };

  /**
   * A slot is acquired before the code is looked up, so that concurrent guesses count as sequential
   * ones do, and released unless the code was wrong.
   */
  const limitGuesses: RequestHandler = (request, response, next) => {
    const { max, windowMs } = wrongCodesOfSender;
    records.acquireSlot('wrongUserCodes', limits.senderOf(request), max, windowMs).then((release) => {
      if (release === null) {
        const { busyPage } = pages.pagesFor(preferencesOf(request));
        response.status(429).set(retryAfter(windowMs)).type('html').send(busyPage(baseUrl));
        return;
      }
      response.once('finish', () => {
        if (response.statusCode >= 400) return;
        release().catch((err: unknown) => {
          logger.warn({ err }, 'the count of codes that devices wait with could not be corrected');
        });
      });
      next();
    }, next);
  };

  // Takes letters of any case, and a slash at the end, as oidc-provider does: else they lead past this.
  const router = express.Router();
  // They show codes, and the secret of a form.
  router.use('/device', (_request, response, next) => {
    response.set('cache-control', 'no-store');
    next();
  });
  router.route('/device').get(prefill).post(limitGuesses);
  return router;
};
