import { expect, test } from '@jest/globals';
import { standings, type WebsiteStanding } from '../../src/http/auth/caller.js';
import { toListedWebsite, toWebsite } from '../../src/http/routes/website/website.resource.js';
import type { WebsiteDocument } from '../../src/projections/website/website.projection.js';

const values = { name: 'Bakery', slug: 'bakery' };
const website = (provider: string): WebsiteDocument => ({
  id: 'w1',
  ...values,
  status: 'provisioning',
  tier: 'starter',
  features: ['content'],
  templateId: 'business',
  collaborators: ['jan'],
  provisioningJobId: 'j1',
  repository: { provider, id: 'r1', name: 'bakery', cloneUrl: 'https://git.example/bakery.git' },
  createdAt: '2026-01-01T00:00:00.000Z',
  built: values,
  shelf: 'current',
});

const addresses = { siteAddress: () => undefined, baseUrl: () => 'https://doorstep.example' };
const elsewhere = 'https://git.example/bakery.git';
const here = 'https://doorstep.example/git/bakery.git';

/** What is shown to whom, beside what everybody sees. */
const table: Readonly<Record<WebsiteStanding, Record<string, unknown>>> = {
  admin: { elsewhere, here, isProvisioningShown: true },
  owner: { here, via: 'owner', role: 'editor' },
  editor: { here, via: 'link', role: 'editor' },
  viewer: { here, via: 'link', role: 'viewer' },
  stranger: {},
};

test.each(standings)('a website as the %s sees it', (standing) => {
  const shownOf = (provider: string) => toWebsite(website(provider), addresses, standing);
  const { via, role, repository } = shownOf('GitHub');
  const summary = { status: 'running', finished: 1, of: 6 } as never;
  const listed = toListedWebsite({ website: website('GitHub'), provisioning: summary }, addresses, standing);
  const shown = {
    elsewhere: repository?.cloneUrl,
    here: shownOf('embedded').repository?.cloneUrl,
    via,
    role,
    isProvisioningShown: 'provisioningSummary' in listed ? true : undefined,
  };
  expect(shown).toEqual(table[standing]);
});
