import { button, linkButton, show, text, title } from './dom.js';
import { showBilling } from './billing.js';
import { showHome } from './home.js';
import { showInvitation } from './invitation.js';
import { base, completeSignIn, SignedOut, signIn } from './session.js';

const home = `${base}/app/`;

const showCallback = async () => {
  const back = await completeSignIn();
  if (back !== null) {
    history.replaceState(null, '', back);
    await showPage();
    return;
  }
  show(
    'Sign in',
    title('You are not signed in'),
    text('This attempt to sign in has ended, or was begun in another window.'),
    linkButton('Begin again', home),
  );
};

/** Each page by its path below `/app/`; the service knows the same ones (`src/http/pages/pages.ts`). */
const pages = /** @type {const} */ ([
  [/^$/, showHome],
  [/^callback$/, showCallback],
  [/^invitations\/([^/]+)$/, showInvitation],
  [/^websites\/([^/]+)\/billing$/, showBilling],
]);

const showNothing = () => {
  show('Not found', title('There is no such page'), linkButton('Go to your websites', home));
};

const showPage = async () => {
  const path = location.pathname.slice(home.length);
  for (const [pattern, page] of pages) {
    const found = pattern.exec(path);
    if (found === null) continue;
    await page(found[1] ?? '');
    return;
  }
  showNothing();
};

// Of a page, or of a button on it.
addEventListener('unhandledrejection', ({ reason }) => {
  if (reason instanceof SignedOut) {
    show('Sign in', title('Your session has ended'), text('Sign in again to go on.'), button('Sign in', signIn));
  } else {
    show('Problem', title('The service cannot be reached'), text('Look at your connection.'), button('Try again', showPage));
  }
});

void showPage();
