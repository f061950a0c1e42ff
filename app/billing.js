import { button, day, heading, link, list, problem, quiet, show, text, title } from './dom.js';
import { ask, base, brand, isSignedIn, showFault, signedInAs, signIn } from './session.js';

/** @typedef {{ status: string, createdAt: string, currentPeriodEndsAt?: string, canceledAt?: string }} Subscription */
/** @typedef {{ id: string, number?: string, status: string, total: number, currency: string, description?: string, createdAt: string, dueAt?: string, url?: string }} Invoice */
/** @typedef {{ subscription: Subscription | null, invoices: Invoice[] }} Billing */

/** As people write it, such as €49.00. @param {Invoice} invoice */
const amountOf = ({ total, currency }) => {
  const format = new Intl.NumberFormat('en-GB', { style: 'currency', currency });
  return format.format(total / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
};

/** @param {Subscription | null} subscription */
const subscriptionWords = (subscription) => {
  if (subscription === null) return 'There is no subscription: nothing is charged by itself.';
  const { status, createdAt, canceledAt } = subscription;
  if (status === 'canceled') return `The subscription has ended${canceledAt === undefined ? '' : ` on ${day(canceledAt)}`}.`;
  if (status === 'past_due' || status === 'unpaid') return 'There is a subscription, and a payment for it is late.';
  return `There is a subscription since ${day(createdAt)}.`;
};

/** @param {Invoice} invoice */
const invoiceWords = ({ status, dueAt }) => {
  if (status === 'paid') return 'Paid';
  if (status === 'void') return 'Void: nothing is to be paid';
  return dueAt === undefined ? 'To be paid' : `To be paid by ${day(dueAt)}`;
};

/** @param {Invoice} invoice */
const invoiceItem = (invoice) => {
  const { number, description, createdAt, url } = invoice;
  const name = `Invoice ${number ?? `of ${day(createdAt)}`}`;
  return [
    text(url === undefined ? name : link(name, url), `: ${amountOf(invoice)}`),
    quiet(`${invoiceWords(invoice)}.`, description === undefined ? '' : ` ${description}`),
  ];
};

/** What the owner of a website pays. @param {string} websiteId */
export const showBilling = async (websiteId) => {
  if (!isSignedIn()) {
    show('Billing', title('Billing'), text('Sign in to see what you pay for the website.'), button('Sign in', signIn));
    return;
  }
  const path = `/websites/${encodeURIComponent(websiteId)}`;
  const [website, billing, me] = await Promise.all([ask('GET', path), ask('GET', `${path}/billing`), ask('GET', '/me')]);
  if (website.status === 403 || billing.status === 403 || website.status === 404) {
    show(
      'Billing',
      title('Billing'),
      problem('Billing is seen by the owner of the website alone.'),
      text(link('Your websites', `${base}/app/`)),
    );
    return;
  }
  const fault = [website, billing, me].find(({ status }) => status !== 200);
  if (fault !== undefined) {
    showFault(fault, () => showBilling(websiteId));
    return;
  }
  const { name } = /** @type {{ name: string }} */ (website.body);
  const { subscription, invoices } = /** @type {Billing} */ (billing.body);
  const { email, subject } = /** @type {{ email: string | null, subject: string }} */ (me.body);
  show(
    'Billing',
    title(name),
    text(subscriptionWords(subscription)),
    heading('Invoices'),
    ...(invoices.length === 0 ? [text('There are none yet.')] : [list(...invoices.map(invoiceItem))]),
    quiet(`To change anything, turn to ${brand}.`),
    text(link('Your websites', `${base}/app/`)),
    signedInAs(email ?? subject),
  );
};
