import { describe, expect, test } from '@jest/globals';
import { refusals } from '../../src/commands/refusal.js';
import { featuresOf, websiteDecider } from '../../src/commands/website/website.decider.js';
import type { WebsiteEvent } from '../../src/events/website/website.events.js';
import { expectRepeatable, given, recorded, stateAfter } from '../support/given.js';

const create = {
  type: 'CreateWebsite',
  websiteId: 'w1',
  name: 'Bakery',
  slug: 'bakery',
  templateId: 'business',
  tier: 'starter',
  collaborators: [],
  provisioningJobId: 'j1',
} as const;

const created: WebsiteEvent = {
  type: 'WebsiteCreated',
  data: {
    websiteId: 'w1',
    name: 'Bakery',
    slug: 'bakery',
    templateId: 'business',
    tier: 'starter',
    features: ['content', 'documents', 'analytics'],
    collaborators: [],
    provisioningJobId: 'j1',
  },
};

const activated: WebsiteEvent = {
  type: 'WebsiteActivated',
  data: {
    websiteId: 'w1',
    repository: { provider: 'embedded', id: 'r1', name: 'bakery', cloneUrl: 'file:///bakery.git' },
    hosting: { provider: 'embedded', projectId: 'p1', name: 'bakery' },
    url: 'http://localhost/sites/bakery/',
  },
};

const archived: WebsiteEvent = { type: 'WebsiteArchived', data: { websiteId: 'w1' } };

describe('CreateWebsite', () => {
  test('without features has all of its tier', () => {
    given(websiteDecider).when(create).then([created]);
  });

  test('belongs to the client, and is shared with the collaborators, that it is made for', () => {
    const more = { clientId: 'c1', collaborators: ['octocat'] };
    given(websiteDecider)
      .when({ ...create, ...more })
      .then([{ ...created, data: { ...created.data, ...more } }]);
  });

  test('with fewer features has those, in the order of the catalogue', () => {
    given(websiteDecider)
      .when({ ...create, features: ['analytics', 'content'] })
      .then([{ ...created, data: { ...created.data, features: ['content', 'analytics'] } }]);
  });

  test('with a feature above its tier is refused', () => {
    given(websiteDecider)
      .when({ ...create, features: ['seo'] })
      .thenRefused(refusals.featureNotOnTier('seo', 'starter'));
  });

  test.each([
    ['starter', 3],
    ['growth', 6],
    ['scale', 8],
  ] as const)('the %s tier has %d features', (tier, count) => {
    expect(featuresOf(tier)).toHaveLength(count);
  });
});

test('the colour given at creation is kept: the same again changes nothing', () => {
  const colour = { brandColor: '#AA3300' };
  const coloured = { ...created, data: { ...created.data, ...colour } } as WebsiteEvent;
  given(websiteDecider)
    .when({ ...create, ...colour })
    .then([coloured]);
  const change = { type: 'ChangeWebsite', websiteId: 'w1' } as const;
  given(websiteDecider, [coloured])
    .when({ ...change, ...colour })
    .then([]);
  given(websiteDecider, [coloured])
    .when({ ...change, brandColor: '#000000' })
    .then([{ type: 'WebsiteBrandColorChanged', data: { websiteId: 'w1', brandColor: '#000000' } }]);
});

test('the colour is taken away by null; where there is none that changes nothing', () => {
  const coloured = { ...created, data: { ...created.data, brandColor: '#AA3300' } } as WebsiteEvent;
  const colourless = { type: 'ChangeWebsite', websiteId: 'w1', brandColor: null } as const;
  given(websiteDecider, [coloured])
    .when(colourless)
    .then([{ type: 'WebsiteBrandColorRemoved', data: { websiteId: 'w1' } }]);
  expectRepeatable(websiteDecider, [coloured], colourless);
});

describe('ChangeWebsite', () => {
  const change = { type: 'ChangeWebsite', websiteId: 'w1' } as const;

  test('carries out an offer only if no owner was assigned since it was sent', () => {
    const assigned: WebsiteEvent = { type: 'WebsiteOwnerAssigned', data: { websiteId: 'w1', clientId: 'c1' } };
    // The assignment stands at position 2.
    given(websiteDecider, [created, assigned])
      .when({ ...change, clientId: 'c2', offerPosition: 1n })
      .thenRefused(refusals.transferNotFound());
    for (const offerPosition of [undefined, 2n, 3n]) {
      given(websiteDecider, [created, assigned])
        .when({ ...change, clientId: 'c2', offerPosition })
        .then([{ type: 'WebsiteOwnerAssigned', data: { websiteId: 'w1', clientId: 'c2', previousClientId: 'c1' } }]);
    }
    given(websiteDecider, [created, assigned])
      .when({ ...change, clientId: 'c1', offerPosition: 1n })
      .then([]);
    given(websiteDecider, [created])
      .when({ ...change, clientId: 'c1', offerPosition: 1n })
      .then([assigned]);
  });

  test('null is the tier, or the features, that a new website has', () => {
    const planned: WebsiteEvent = {
      type: 'WebsitePlanChanged',
      data: { websiteId: 'w1', tier: 'growth', features: ['seo'] },
    };
    const plan = (tier: 'starter' | 'growth', features: readonly string[]) => ({
      type: 'WebsitePlanChanged',
      data: { websiteId: 'w1', tier, features },
    });
    given(websiteDecider, [created, planned])
      .when({ ...change, features: null })
      .then([plan('growth', featuresOf('growth')) as WebsiteEvent]);
    given(websiteDecider, [created, planned])
      .when({ ...change, tier: null, features: null })
      .then([plan('starter', featuresOf('starter')) as WebsiteEvent]);
    given(websiteDecider, [created, planned])
      .when({ ...change, tier: null, features: ['seo'] })
      .thenRefused(refusals.featureNotOnTier('seo', 'starter'));
  });

  test('each field that differs is an event of its own; the others are none', () => {
    given(websiteDecider, [created])
      .when({ ...change, name: 'Bakery & Café', brandColor: '#AA3300', clientId: 'c1', tier: 'starter' })
      .then([
        { type: 'WebsiteRenamed', data: { websiteId: 'w1', name: 'Bakery & Café' } },
        { type: 'WebsiteBrandColorChanged', data: { websiteId: 'w1', brandColor: '#AA3300' } },
        { type: 'WebsiteOwnerAssigned', data: { websiteId: 'w1', clientId: 'c1' } },
      ]);
  });

  test('what it does not name stays, an owner and a colour too', () => {
    const full = { ...created, data: { ...created.data, brandColor: '#AA3300', clientId: 'c1' } } as WebsiteEvent;
    given(websiteDecider, [full])
      .when({ ...change, name: 'Café' })
      .then([{ type: 'WebsiteRenamed', data: { websiteId: 'w1', name: 'Café' } }]);
  });

  test('an owner gives way to the next one: there is at most one', () => {
    const owned: WebsiteEvent = { type: 'WebsiteOwnerAssigned', data: { websiteId: 'w1', clientId: 'c1' } };
    given(websiteDecider, [created, owned])
      .when({ ...change, clientId: 'c2' })
      .then([{ type: 'WebsiteOwnerAssigned', data: { websiteId: 'w1', clientId: 'c2', previousClientId: 'c1' } }]);
  });

  test('an owner who was erased is taken away, and nobody else; also from an archived website', () => {
    const owned: WebsiteEvent = { type: 'WebsiteOwnerAssigned', data: { websiteId: 'w1', clientId: 'c1' } };
    const removed: WebsiteEvent = { type: 'WebsiteOwnerRemoved', data: { websiteId: 'w1', clientId: 'c1' } };
    const remove = { type: 'RemoveOwner', websiteId: 'w1', clientId: 'c1' } as const;
    given(websiteDecider, [created, owned, archived]).when(remove).then([removed]);
    given(websiteDecider, [created, owned])
      .when({ ...remove, clientId: 'c2' })
      .then([]);
    given(websiteDecider, [created]).when(remove).then([]);
    given(websiteDecider, [created, owned, removed])
      .when({ ...change, clientId: 'c2' })
      .then([{ type: 'WebsiteOwnerAssigned', data: { websiteId: 'w1', clientId: 'c2' } }]);
    expectRepeatable(websiteDecider, [created, owned], remove);
  });

  test('`clientId: null` takes the website from its owner; without one it changes nothing', () => {
    const owned: WebsiteEvent = { type: 'WebsiteOwnerAssigned', data: { websiteId: 'w1', clientId: 'c1' } };
    given(websiteDecider, [created, owned])
      .when({ ...change, clientId: null })
      .then([{ type: 'WebsiteOwnerRemoved', data: { websiteId: 'w1', clientId: 'c1' } }]);
    given(websiteDecider, [created])
      .when({ ...change, clientId: null })
      .then([]);
    expectRepeatable(websiteDecider, [created, owned], { ...change, clientId: null });
  });

  test('a higher tier switches on what it newly has and leaves off what was switched off', () => {
    const restricted = { ...created, data: { ...created.data, features: ['content'] } } as WebsiteEvent;
    given(websiteDecider, [restricted])
      .when({ ...change, tier: 'growth' })
      .then([
        {
          type: 'WebsitePlanChanged',
          data: { websiteId: 'w1', tier: 'growth', features: ['content', 'marketing', 'seo', 'scheduling'] },
        },
      ]);
  });

  test('a tier that switches nothing on or off is a change too', () => {
    const features = featuresOf('starter');
    given(websiteDecider, [created])
      .when({ ...change, tier: 'growth', features })
      .then([{ type: 'WebsitePlanChanged', data: { websiteId: 'w1', tier: 'growth', features: [...features] } }]);
  });

  test('a lower tier switches off what it does not have', () => {
    const scale = { ...created, data: { ...created.data, tier: 'scale', features: featuresOf('scale') } } as WebsiteEvent;
    given(websiteDecider, [scale])
      .when({ ...change, tier: 'starter' })
      .then([
        {
          type: 'WebsitePlanChanged',
          data: { websiteId: 'w1', tier: 'starter', features: ['content', 'documents', 'analytics'] },
        },
      ]);
  });

  test('a feature above the tier is refused', () => {
    given(websiteDecider, [created])
      .when({ ...change, features: ['content', 'commerce'] })
      .thenRefused(refusals.featureNotOnTier('commerce', 'starter'));
  });

  test('of an unknown website is refused', () => {
    given(websiteDecider).when(change).thenRefused(refusals.websiteNotFound('w1'));
  });

  test('of an archived website is refused', () => {
    given(websiteDecider, [created, archived])
      .when({ ...change, name: 'X' })
      .thenRefused(refusals.websiteArchived('w1'));
  });
});

describe('activation and the shelf', () => {
  test('ActivateWebsite makes it active, even when it was archived meanwhile', () => {
    given(websiteDecider, [created, archived])
      .when({ type: 'ActivateWebsite', ...activated.data } as never)
      .then([activated]);
  });

  test('ActivateWebsite says what the site was built with, when that is not what the website was created with', () => {
    const activate = (slug: string) => ({
      type: 'ActivateWebsite' as const,
      ...activated.data,
      shown: { deploymentId: 'd1', values: { name: 'Bakery', slug } },
    });
    given(websiteDecider, [created])
      .when(activate('corner-bakery'))
      .then([
        { type: 'WebsiteDeployed', data: { websiteId: 'w1', deploymentId: 'd1', name: 'Bakery', slug: 'corner-bakery' } },
        activated,
      ]);
    given(websiteDecider, [created]).when(activate('bakery')).then([activated]);
    given(websiteDecider, [created, activated]).when(activate('corner-bakery')).then([]);
  });

  test('RecordDeployment says what the site shows now, when that is something else', () => {
    const values = { name: 'Bakery', slug: 'corner-bakery' };
    const record = { type: 'RecordDeployment', websiteId: 'w1', deploymentId: 'd2', values } as const;
    given(websiteDecider, [created])
      .when(record)
      .then([{ type: 'WebsiteDeployed', data: { websiteId: 'w1', deploymentId: 'd2', ...values } }]);
    expectRepeatable(websiteDecider, [created], record);
    given(websiteDecider, [created])
      .when({ ...record, values: { name: 'Bakery', slug: 'bakery' } })
      .then([]);
  });

  test('RestoreWebsite brings an archived one back', () => {
    given(websiteDecider, [created, archived])
      .when({ type: 'RestoreWebsite', websiteId: 'w1' })
      .then([{ type: 'WebsiteRestored', data: { websiteId: 'w1' } }]);
  });

  test('RestoreWebsite of one that is not archived changes nothing', () => {
    given(websiteDecider, [created]).when({ type: 'RestoreWebsite', websiteId: 'w1' }).then([]);
  });
});

describe('AbandonWebsite', () => {
  const abandon = { type: 'AbandonWebsite', websiteId: 'w1', slug: 'bakery' } as const;
  const abandoned: WebsiteEvent = { type: 'WebsiteCreationAbandoned', data: { websiteId: 'w1' } };

  test('gives up a website that has not appeared', () => {
    given(websiteDecider).when(abandon).then([abandoned]);
  });

  test('is refused once it has', () => {
    given(websiteDecider, [created]).when(abandon).thenRefused(refusals.slugTaken());
  });

  test('for ever: a creation that comes later is refused', () => {
    given(websiteDecider, [abandoned]).when(create).thenRefused(refusals.slugTaken());
  });

  test('leaves no website behind that could be changed', () => {
    given(websiteDecider, [abandoned])
      .when({ type: 'ArchiveWebsite', websiteId: 'w1' })
      .thenRefused(refusals.websiteNotFound('w1'));
  });
});

test.each([
  [create, []],
  [{ type: 'AbandonWebsite', websiteId: 'w1', slug: 'bakery' }, []],
  [{ type: 'ChangeWebsite', websiteId: 'w1', name: 'Other', tier: 'growth', brandColor: '#000000', clientId: 'c1' }, [created]],
  [{ type: 'ActivateWebsite', ...activated.data }, [created]],
  [{ type: 'ArchiveWebsite', websiteId: 'w1' }, [created]],
  [{ type: 'RestoreWebsite', websiteId: 'w1' }, [created, archived]],
] as const)('%j repeated changes nothing', (command, events) => {
  expectRepeatable(websiteDecider, [...events], command as never);
});

describe('a slug that a website has, or had', () => {
  const changed: WebsiteEvent = { type: 'WebsiteSlugChanged', data: { websiteId: 'w1', slug: 'bread', previousSlug: 'bakery' } };
  const change = { type: 'ChangeWebsite', websiteId: 'w1', slug: 'bread', reservationPosition: 5n } as const;
  const abandon = { type: 'AbandonWebsite', websiteId: 'w1', slug: 'bread' } as const;
  const forgone: WebsiteEvent = { type: 'WebsiteSlugForgone', data: { websiteId: 'w1', slug: 'bread' } };

  test('is taken once it is reserved, and not given up after that', () => {
    given(websiteDecider, [created]).when(change).then([changed]);
    given(websiteDecider, [created, changed]).when(change).then([]);
    given(websiteDecider, [created, changed]).when(abandon).thenRefused(refusals.slugTaken());
    given(websiteDecider, [created, changed])
      .when({ ...abandon, slug: 'bakery' })
      .thenRefused(refusals.slugTaken());
    expect(stateAfter(websiteDecider, [created, changed])).toMatchObject({ slug: 'bread', formerSlugs: ['bakery'] });
    const back: WebsiteEvent = { type: 'WebsiteSlugChanged', data: { websiteId: 'w1', slug: 'bakery', previousSlug: 'bread' } };
    expect(stateAfter(websiteDecider, [created, changed, back])).toMatchObject({ slug: 'bakery', formerSlugs: ['bread'] });
  });

  test('that was given up is taken by a reservation that came later, and by no earlier one', () => {
    given(websiteDecider, [created]).when(abandon).then([forgone]);
    const at = recorded(forgone, { revision: 9 });
    for (const reservationPosition of [undefined, change.reservationPosition]) {
      given(websiteDecider, [created, at])
        .when({ ...change, reservationPosition })
        .thenRefused(refusals.slugTaken());
    }
    given(websiteDecider, [created, at])
      .when({ ...change, reservationPosition: at.position + 1n })
      .then([changed]);
  });
});

describe('the deletion of a website', () => {
  const schedule = { type: 'ScheduleDeletion', websiteId: 'w1', keep: ['repository'] } as const;
  const purgeAt = '2026-02-01T00:00:00.000Z';
  const scheduled: WebsiteEvent = { type: 'WebsiteDeletionScheduled', data: { websiteId: 'w1', purgeAt, keep: ['repository'] } };
  const restored: WebsiteEvent = { type: 'WebsiteRestored', data: { websiteId: 'w1' } };
  const remove = { type: 'DeleteWebsite', websiteId: 'w1', purgeAt, at: purgeAt } as const;
  const deleted: WebsiteEvent = {
    type: 'WebsiteDeleted',
    data: { websiteId: 'w1', keep: ['repository'], name: 'bakery', provisioningJobId: 'j1', slugs: ['bakery'] },
  };

  test('is scheduled for 30 days later, of an archived one only', () => {
    given(websiteDecider, [created]).when(schedule).thenRefused(refusals.websiteNotArchived('w1'));
    given(websiteDecider, [created, archived])
      .when({ ...schedule, at: '2026-01-02T00:00:00.000Z' })
      .then([scheduled]);
  });

  test('again changes what is kept, and not the time', () => {
    given(websiteDecider, [created, archived, scheduled]).when(schedule).then([]);
    given(websiteDecider, [created, archived, scheduled])
      .when({ ...schedule, keep: [] })
      .then([{ type: 'WebsiteDeletionScheduled', data: { websiteId: 'w1', purgeAt, keep: [] } }]);
    const { keep: _, ...again } = schedule;
    given(websiteDecider, [created, archived, scheduled]).when(again).then([]);
    given(websiteDecider, [created, archived])
      .when(again)
      .then([{ type: 'WebsiteDeletionScheduled', data: { websiteId: 'w1', purgeAt, keep: [] } }]);
  });

  test('comes at its time, unless it was restored or is scheduled for another', () => {
    given(websiteDecider, [created, archived, scheduled]).when(remove).then([deleted]);
    given(websiteDecider, [created, archived, scheduled])
      .when({ ...remove, at: '2026-01-31T23:59:59.999Z' })
      .then([]);
    given(websiteDecider, [created, archived, scheduled, restored]).when(remove).then([]);
    given(websiteDecider, [created, archived, scheduled])
      .when({ ...remove, purgeAt: '2026-01-20T00:00:00.000Z' })
      .then([]);
  });

  test('takes it from its owner, and it is never there again', () => {
    const owned: WebsiteEvent = { type: 'WebsiteOwnerAssigned', data: { websiteId: 'w1', clientId: 'c1' } };
    given(websiteDecider, [created, owned, archived, scheduled])
      .when(remove)
      .then([{ type: 'WebsiteOwnerRemoved', data: { websiteId: 'w1', clientId: 'c1' } }, deleted]);
    given(websiteDecider, [created, archived, scheduled, deleted])
      .when({ type: 'RestoreWebsite', websiteId: 'w1' })
      .thenRefused(refusals.websiteNotFound('w1'));
    const abandon = { type: 'AbandonWebsite', websiteId: 'w1' } as const;
    given(websiteDecider, [created, deleted])
      .when({ ...abandon, slug: 'bakery' })
      .thenRefused(refusals.slugTaken());
    given(websiteDecider, [created, deleted])
      .when({ ...abandon, slug: 'bread' })
      .then([]);
  });

  test.each([
    ['scheduling', [created, archived], schedule],
    ['deleting', [created, archived, scheduled], { ...remove, at: '2026-02-01T00:00:00.000Z' }],
  ] as const)('%s: repeating changes nothing', (what, events, command) => {
    if (what === 'scheduling') expectRepeatable(websiteDecider, events, command);
    else
      given(websiteDecider, [...events, deleted])
        .when(command)
        .thenRefused(refusals.websiteNotFound('w1'));
  });
});
