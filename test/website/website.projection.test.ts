import { websiteEvents, type WebsiteEvent } from '../../src/events/website/website.events.js';
import { websiteProjection, type WebsiteDocument } from '../../src/projections/website/website.projection.js';
import { earlier } from '../support/given.js';
import { describeProjection, happened } from '../support/projectionCases.js';

const websiteId = 'w1';

const created: WebsiteDocument = {
  id: websiteId,
  name: 'Bakery',
  slug: 'bakery',
  status: 'provisioning',
  tier: 'starter',
  features: ['content', 'documents'],
  templateId: 'business',
  collaborators: ['baker'],
  provisioningJobId: 'j1',
  createdAt: earlier,
  built: { name: 'Bakery', slug: 'bakery' },
  shelf: 'current',
};

const owned = { ...created, clientId: 'c1', brandColor: '#112233' };
const archived = { ...owned, shelf: 'archived', archivedAt: earlier } as const;

const creation: Extract<WebsiteEvent, { type: 'WebsiteCreated' }>['data'] = {
  websiteId,
  name: 'Bakery',
  slug: 'bakery',
  templateId: 'business',
  tier: 'starter',
  features: ['content', 'documents'],
  collaborators: ['baker'],
  provisioningJobId: 'j1',
};

const built = {
  repository: { provider: 'embedded', id: 'r1', name: 'bakery', cloneUrl: 'https://git.example/bakery.git' },
  hosting: { provider: 'embedded', projectId: 'p1', name: 'bakery' },
  url: 'https://bakery.example/',
};

describeProjection(websiteProjection, [websiteEvents], {
  WebsiteCreated: [
    {
      shows: 'without an owner and a colour has neither',
      when: creation,
      then: { ...created, createdAt: happened },
    },
    {
      shows: 'with an owner and a colour has both',
      when: { ...creation, clientId: 'c1', brandColor: '#112233' },
      then: { ...owned, createdAt: happened, built: { ...created.built, brandColor: '#112233' } },
    },
  ],
  WebsiteRenamed: [{ given: owned, when: { websiteId, name: 'Bread' }, then: { ...owned, name: 'Bread' } }],
  WebsitePlanChanged: [
    {
      given: owned,
      when: { websiteId, tier: 'growth', features: ['seo'] },
      then: { ...owned, tier: 'growth', features: ['seo'] },
    },
  ],
  WebsiteBrandColorChanged: [
    { given: owned, when: { websiteId, brandColor: '#445566' }, then: { ...owned, brandColor: '#445566' } },
    {
      shows: 'gives one to a website that had none',
      given: created,
      when: { websiteId, brandColor: '#445566' },
      then: { ...created, brandColor: '#445566' },
    },
  ],
  WebsiteBrandColorRemoved: [
    { given: { ...created, brandColor: '#112233' }, when: { websiteId }, then: created },
    { shows: 'from one that has none', given: created, when: { websiteId }, then: created },
  ],
  WebsiteSlugChanged: [
    {
      given: owned,
      when: { websiteId, slug: 'bread', previousSlug: 'bakery' },
      then: { ...owned, slug: 'bread', formerSlugs: ['bakery'] },
    },
    {
      shows: 'back to a former one',
      given: { ...owned, slug: 'bread', formerSlugs: ['bakery'] },
      when: { websiteId, slug: 'bakery', previousSlug: 'bread' },
      then: { ...owned, formerSlugs: ['bread'] },
    },
  ],
  WebsiteDeployed: [
    {
      given: { ...owned, name: 'Bread' },
      when: { websiteId, deploymentId: 'd1', name: 'Bread', slug: 'bakery', brandColor: '#112233' },
      then: { ...owned, name: 'Bread', built: { name: 'Bread', slug: 'bakery', brandColor: '#112233' } },
    },
  ],
  WebsiteOwnerAssigned: [
    { shows: 'the first one', given: created, when: { websiteId, clientId: 'c2' }, then: { ...created, clientId: 'c2' } },
    {
      shows: 'another one',
      given: owned,
      when: { websiteId, clientId: 'c2', previousClientId: 'c1' },
      then: { ...owned, clientId: 'c2' },
    },
  ],
  WebsiteOwnerRemoved: [
    { given: { ...created, clientId: 'c1' }, when: { websiteId, clientId: 'c1' }, then: created },
    { shows: 'twice', given: created, when: { websiteId, clientId: 'c1' }, then: created },
  ],
  WebsiteActivated: [
    { given: owned, when: { websiteId, ...built }, then: { ...owned, ...built, status: 'active', activatedAt: happened } },
    {
      shows: 'of an archived one keeps it archived',
      given: archived,
      when: { websiteId, ...built },
      then: { ...archived, ...built, status: 'active', activatedAt: happened },
    },
  ],
  WebsiteArchived: [{ given: owned, when: { websiteId }, then: { ...owned, shelf: 'archived', archivedAt: happened } }],
  WebsiteDeletionScheduled: [
    {
      given: archived,
      when: { websiteId, purgeAt: '2026-02-01T00:00:00.000Z', keep: ['repository'] },
      then: { ...archived, purgeAt: '2026-02-01T00:00:00.000Z', keep: ['repository'] },
    },
  ],
  WebsiteDeleted: [
    { given: archived, when: { websiteId, keep: [], name: 'bakery', provisioningJobId: 'j1', slugs: ['bakery'] }, then: null },
  ],
  WebsiteRestored: [
    {
      shows: 'that was to be deleted',
      given: { ...archived, purgeAt: '2026-02-01T00:00:00.000Z', keep: ['repository'] },
      when: { websiteId },
      then: owned,
    },
    { given: archived, when: { websiteId }, then: owned },
  ],
});
