/** What people look at in the portal: each page, in the states that the demo brings about. */

/** @typedef {'operator' | 'anna' | 'leila' | 'tomas' | 'newcomer' | 'samir' | 'stranger'} Visitor */

/**
 * @typedef {object} Visit
 * @property {string} name - of the picture
 * @property {Visitor | null} who - signs in; null: nobody
 * @property {string} path - below `/app`; `{slug}` stands for the id of the website with that slug,
 *   `{invitation:<address>}` for that of the newest invitation to an address, `{client:<address>}` for
 *   that of a client
 */

/** @param {string} name @param {Visit['who']} who @param {string} path @returns {Visit} */
const visit = (name, who, path) => ({ name, who, path });

/** Pages of a website, as somebody sees them. @param {string} as @param {Visitor} who @param {string} slug @param {readonly string[]} pages */
const ofWebsite = (as, who, slug, pages) =>
  pages.map((page) => visit(`${page.replaceAll('/', '-') || 'status'}-${as}`, who, `/websites/{${slug}}${page && `/${page}`}`));

/** @type {readonly Visit[]} */
export const visits = [
  visit('sign-in', null, '/sign-in'),
  visit('callback-used', null, '/callback?code=used&state=used'),
  visit('not-found', 'operator', '/nowhere'),

  visit('home', 'operator', '/'),
  visit('websites', 'operator', '/websites'),
  visit('websites-no-match', 'operator', '/websites?q=zzzz'),
  visit('new-website', 'operator', '/websites/new'),
  visit('clients', 'operator', '/clients'),
  visit('client', 'operator', '/clients/{client:anna@corner-bakery.example}'),
  visit('audit', 'operator', '/audit'),
  visit('outbox', 'operator', '/outbox'),
  visit('api-keys', 'operator', '/settings/api-keys'),
  visit('connect', 'operator', '/settings/connect'),

  ...ofWebsite('operator', 'operator', 'corner-bakery', [
    '',
    'delivery',
    'delivery/history',
    'provisioning',
    'people',
    'transfer',
    'documents',
    'content',
    'media',
    'marketing',
    'analytics',
    'seo',
    'deployments',
    'billing',
    'settings',
  ]),
  visit('content-document-operator', 'operator', '/websites/{corner-bakery}/content/company'),
  visit('marketing-document', 'operator', '/websites/{corner-bakery}/marketing/newsletter'),
  visit('settings-scale', 'operator', '/websites/{tanaka-ceramics}/settings'),
  visit('status-late', 'operator', '/websites/{okafor-architects}'),
  visit('delivery-late', 'operator', '/websites/{okafor-architects}/delivery'),
  visit('provisioning-fresh', 'operator', '/websites/{fjord-kayaks}/provisioning'),
  visit('status-not-set-up-operator', 'operator', '/websites/{brass-and-oak}'),
  visit('delivery-not-set-up', 'operator', '/websites/{brass-and-oak}/delivery'),
  visit('status-archived', 'operator', '/websites/{rossi-bikes}'),
  visit('settings-archived', 'operator', '/websites/{rossi-bikes}/settings'),
  visit('people-invited', 'operator', '/websites/{cafe-ondine}/people'),
  visit('website-unknown', 'operator', '/websites/01unknown'),

  visit('home-editor', 'leila', '/'),
  ...ofWebsite('owner', 'anna', 'corner-bakery', [
    '',
    'documents',
    'content',
    'media',
    'analytics',
    'deployments',
    'people',
    'billing',
  ]),
  ...ofWebsite('viewer', 'tomas', 'corner-bakery', ['', 'documents', 'content', 'billing', 'delivery']),
  visit('invitation', 'samir', '/invitations/{invitation:samir@cafe-ondine.example}'),
  visit('invitation-of-another', 'tomas', '/invitations/{invitation:samir@cafe-ondine.example}'),
  visit('invitation-unknown', 'samir', '/invitations/01unknown'),
  visit('home-stranger', 'stranger', '/'),
  visit('website-of-another', 'stranger', '/websites/{corner-bakery}'),
];
