import { button, heading, link, list, quiet, show, text, title } from './dom.js';
import { ask, base, brand, isSignedIn, showFault, signedInAs, signIn } from './session.js';

/** @typedef {{ name: string, url?: string, status: string, via?: string, role?: string }} Website */
/** @typedef {{ id: string, kind: string, websiteName?: string }} Invitation */
/** @typedef {{ email: string | null, subject: string, role: string, websites: Website[], moreWebsites?: true, invitations: Invitation[] }} Me */

/** @param {Website} website */
const websiteItem = ({ name, url, status, via, role }) => [
  text(status === 'active' && url !== undefined ? link(name, url) : name),
  quiet(
    via === 'owner' ? 'You own it' : `You may ${role === 'editor' ? 'edit' : 'see'} it`,
    status === 'active' ? '' : '. It is being built',
    '.',
  ),
];

/** @param {Invitation} invitation */
const invitationItem = ({ id, kind, websiteName }) => [
  text(link(websiteName ?? 'A website', `${base}/app/invitations/${id}`)),
  quiet(kind === 'ownership_transfer' ? 'You are asked to take it over.' : 'You are invited to it.'),
];

/** Who is signed in, and what they have. */
export const showHome = async () => {
  if (!isSignedIn()) {
    show(
      'Sign in',
      title(`Welcome to ${brand}`),
      text('Sign in to see your websites and invitations.'),
      button('Sign in', signIn),
    );
    return;
  }
  const answer = await ask('GET', '/me');
  if (answer.status !== 200) {
    showFault(answer, showHome);
    return;
  }
  const { email, subject, role, websites, moreWebsites = false, invitations } = /** @type {Me} */ (answer.body);
  show(
    'Your websites',
    title('Your websites'),
    ...(invitations.length > 0 ? [heading('Invitations'), list(...invitations.map(invitationItem)), heading('Websites')] : []),
    ...(websites.length > 0 ? [list(...websites.map(websiteItem))] : [text(nothingYet(role))]),
    ...(moreWebsites ? [quiet('These are your newest websites. Ask for the others by name.')] : []),
    ...(role === 'admin' ? [text('Admins work with the API: ', link('its documentation', `${base}/docs`), '.')] : []),
    signedInAs(email ?? subject),
  );
};

/** @param {string} role */
const nothingYet = (role) =>
  role === 'admin' ? 'You are an admin: all websites are yours to work on.' : 'No website is shared with you yet.';
