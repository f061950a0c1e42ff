import { button, day, linkButton, problem, quiet, show, strong, text, title } from './dom.js';
import { ask, base, brand, isSignedIn, showFault, signedInAs, signIn } from './session.js';

/** @typedef {{ id: string, kind: string, status: string, email: string, role?: string, websiteName?: string, expiresAt: string }} Invitation */

const home = `${base}/app/`;

/** An invitation, in whichever state it is. @param {string} id */
export const showInvitation = async (id) => {
  if (!isSignedIn()) {
    show(
      'Invitation',
      title(`${brand} has invited you`),
      text('Sign in with the address that the invitation was sent to. You then see which website it is for, and can accept it.'),
      button('Sign in', signIn),
    );
    return;
  }
  const answer = await ask('GET', `/invitations/${encodeURIComponent(id)}`);
  if (answer.status === 200) showState(/** @type {Invitation} */ (answer.body));
  else if (answer.status === 403) await showOthers();
  else if (answer.status === 404) showGone();
  else showFault(answer, () => showInvitation(id));
};

/** @param {Invitation} invitation */
const showState = (invitation) => {
  if (invitation.status === 'expired') showExpired(invitation);
  else if (invitation.status === 'accepted') showAccepted(invitation);
  else showPending(invitation);
};

/** @param {Invitation} invitation */
const nameOf = ({ websiteName }) => websiteName ?? 'a website';

/** @param {Invitation} invitation */
const meaningOf = (invitation) => {
  const name = strong(nameOf(invitation));
  if (invitation.kind === 'ownership_transfer') {
    return text(`${brand} hands over the website `, name, ' to you. When you accept, you own it, and its bills go to you.');
  }
  const more = invitation.role === 'editor' ? ', and to change its content' : '';
  return text(`${brand} invites you to the website `, name, `: to see how it is coming along${more}. This costs you nothing.`);
};

/** @param {Invitation} invitation */
const showPending = (invitation) => {
  const { id, kind, email, expiresAt } = invitation;
  const isTransfer = kind === 'ownership_transfer';
  show(
    'Invitation',
    title(isTransfer ? `Take over ${nameOf(invitation)}` : `You are invited to ${nameOf(invitation)}`),
    meaningOf(invitation),
    button(isTransfer ? 'Take over the website' : 'Accept the invitation', () => claim(id)),
    quiet(`You can accept until ${day(expiresAt)}.`),
    signedInAs(email),
  );
};

/** @param {string} id */
const claim = async (id) => {
  const answer = await ask('POST', `/invitations/${encodeURIComponent(id)}/claim`);
  if (answer.status === 200) await showInvitation(id);
  else if (answer.status === 404) showGone();
  else showFault(answer, () => showInvitation(id));
};

/** @param {Invitation} invitation */
const showAccepted = (invitation) => {
  const isTransfer = invitation.kind === 'ownership_transfer';
  show(
    'Accepted',
    title(isTransfer ? `${nameOf(invitation)} is yours` : `You have access to ${nameOf(invitation)}`),
    text('You have accepted this invitation.'),
    linkButton('Go to your websites', home),
    signedInAs(invitation.email),
  );
};

/** @param {Invitation} invitation */
const showExpired = (invitation) => {
  show(
    'Expired invitation',
    title('This invitation has expired'),
    text('It was for the website ', strong(nameOf(invitation)), ` and could be accepted until ${day(invitation.expiresAt)}.`),
    button('Ask for a new one', () => askAgain(invitation)),
    signedInAs(invitation.email),
  );
};

/** @param {Invitation} invitation */
const askAgain = async ({ id }) => {
  const answer = await ask('POST', `/invitations/${encodeURIComponent(id)}/renewal-request`);
  if (answer.status === 202) {
    show(
      'Asked for',
      title(`${brand} has been asked`),
      text('You get a mail when the invitation is renewed. There is nothing more to do until then.'),
      linkButton('Go to your websites', home),
    );
  } else {
    showFault(answer, () => showInvitation(id));
  }
};

const showGone = () => {
  show(
    'Invitation',
    title('This invitation is no longer valid'),
    text(`It was withdrawn, or the link is not complete. If you expected it, ask ${brand} for a new one.`),
    linkButton('Go to your websites', home),
  );
};

const showOthers = async () => {
  const { body } = await ask('GET', '/me');
  const { email, subject } = /** @type {{ email: string | null, subject: string }} */ (body);
  show(
    'Invitation',
    title('This invitation is for another address'),
    problem('You are signed in as ', strong(email ?? subject), '.'),
    text('Sign in with the address that the invitation was sent to.'),
    button('Sign in with another address', () => signIn({ anew: true })),
  );
};
