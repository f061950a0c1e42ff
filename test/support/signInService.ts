import { join } from 'node:path';
import { expect } from '@jest/globals';
import type * as client from 'openid-client';
import type { EmailSender, Outbox, OutboxMail } from '../../src/integrations/email/port.js';
import type { EmbeddedIdentity } from '../../src/integrations/identity/embedded.js';
import type { RecordStore } from '../../src/projections/store/readModelStore.js';
import { startApi, type ApiAnswer, type RunningApi } from './http.js';
import { createTestIdentity } from './identity.js';
import { createTestOutbox, newestMail } from './outbox.js';
import { createShiftedClock } from './shiftedClock.js';
import {
  beginSignIn,
  codeIn,
  createBrowser,
  discover,
  finishSignIn,
  type Attempt,
  type Browser,
  type Page,
  type Place,
  type Tokens,
} from './signIn.js';
import { temporaryFolder } from './temporary.js';

/** The public address of the service. */
export const baseUrl = 'https://doorstep.test';
export const callback = `${baseUrl}/auth/callback`;
/** Another origin of the portal. */
export const portalOrigin = 'https://portal.example.com';

let people = 0;
/** An address that nobody had: limits are by address. */
export const somebody = (): string => `person-${(people += 1)}@example.com`;

type Extra = Readonly<Record<string, string>>;

/** The service with its sign-in by e-mail, at `baseUrl`; `admin@doorstep.local` is an admin there. */
export interface SignInService {
  readonly api: RunningApi;
  readonly clock: ReturnType<typeof createShiftedClock>;
  readonly outbox: EmailSender & Outbox;
  readonly identity: EmbeddedIdentity;
  readonly place: Place;
  readonly portal: client.Configuration;
  /** Up to the page that asks for the code. */
  readonly askForMail: (
    address: string,
    browser?: Browser,
    extra?: Extra,
  ) => Promise<{ attempt: Attempt; browser: Browser; page: Page; mail: OutboxMail }>;
  /** By code, to the portal. */
  readonly signIn: (address: string, browser?: Browser, extra?: Extra) => Promise<{ browser: Browser; tokens: Tokens }>;
  readonly me: (accessToken: string, path?: string) => Promise<ApiAnswer>;
}

/** Starts it; it is stopped after the test file. @param options what stands before its records and its e-mail sender */
export const startSignInService = async ({
  records = (own) => own,
  email = (own) => own,
}: {
  records?: (own: RecordStore) => RecordStore;
  email?: (own: EmailSender) => EmailSender;
} = {}): Promise<SignInService> => {
  const clock = createShiftedClock();
  const outbox = createTestOutbox({ folder: join(temporaryFolder(), 'outbox'), clock });
  const identities: EmbeddedIdentity[] = [];
  const api = await startApi({
    clock,
    signIn: (engine) => {
      const identity = createTestIdentity(engine, {
        records: records(engine.readModels.records),
        email: email(outbox),
        logsSignInCodes: true,
        baseUrl: () => baseUrl,
        origins: [portalOrigin],
        adminEmails: ['admin@doorstep.local'],
      });
      identities.push(identity);
      return identity;
    },
  });
  const [identity] = identities;
  if (identity === undefined) throw new Error('the service has no sign-in');
  const place: Place = { baseUrl, via: () => api.url };
  const portal = await discover(place);

  const askForMail: SignInService['askForMail'] = async (address, browser = createBrowser(place), extra = {}) => {
    const attempt = await beginSignIn(portal, callback, extra);
    const first = await browser.get(attempt.url);
    expect(first.text).toContain('E-mail address');
    const page = await browser.post(first.url, { email: address });
    expect(page.text).toContain('Look at your mail');
    return { attempt, browser, page, mail: await newestMail(outbox, address) };
  };

  const signIn: SignInService['signIn'] = async (address, ...asked) => {
    const { attempt, browser, page, mail } = await askForMail(address, ...asked);
    const end = await browser.post(page.url, { code: codeIn(mail) });
    return { browser, tokens: await finishSignIn(portal, attempt, end.url) };
  };

  const me: SignInService['me'] = (accessToken, path = '/me') =>
    api.call('GET', path, { headers: { authorization: `Bearer ${accessToken}` } });

  return { api, clock, outbox, identity, place, portal, askForMail, signIn, me };
};
