import { base } from '../page.js';
import { pathTo } from '../paths.js';
import { adoptUser, forgetUser, signedInSubject, type KeptUser } from './session.js';

/**
 * Signing in again beside a page that keeps what stands on it. A window of its own goes the usual way to
 * the identity provider and back; then it hands over who has signed in, within this origin. Not by
 * `window.opener`: where the provider's pages are isolated (COOP), the two windows lose each other.
 */
const channelOf = (attempt: string): BroadcastChannel => new BroadcastChannel(`doorstep.signIn.${attempt}`);

/** The parameter of the sign-in page that says for which attempt it signs in. */
export const besideParameter = 'beside';

let isWaiting: BroadcastChannel | undefined;

/**
 * @param done called once somebody has signed in
 * @returns whether the browser lets a window be opened
 */
export const signInBeside = (done: (isSamePerson: boolean) => void): boolean => {
  isWaiting?.close();
  const attempt = crypto.randomUUID();
  const channel = (isWaiting = channelOf(attempt));
  channel.onmessage = ({ data }: MessageEvent<KeptUser>) => {
    channel.close();
    const isSamePerson = data.profile.sub === signedInSubject();
    // Somebody else gets nothing of whoever was here.
    if (!isSamePerson) sessionStorage.clear();
    adoptUser(data);
    done(isSamePerson);
  };
  const page = `${base}/app${pathTo('signIn')}?${besideParameter}=${attempt}`;
  return window.open(page, `doorstep-${attempt}`, 'popup,width=480,height=640') !== null;
};

/** Hands over to the page beside which somebody has signed in, and closes this window. */
export const handOver = (attempt: string, user: KeptUser): void => {
  const channel = channelOf(attempt);
  channel.postMessage(user);
  channel.close();
  // A refresh token is used by one window alone.
  forgetUser();
  window.close();
};
