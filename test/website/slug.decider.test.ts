import { describe, test } from '@jest/globals';
import { refusals } from '../../src/commands/refusal.js';
import { slugDecider } from '../../src/commands/website/website.decider.js';
import type { SlugEvent } from '../../src/events/website/website.events.js';
import { earlier, expectRepeatable, given, recorded } from '../support/given.js';

describe('ReserveSlug', () => {
  const reserve = { type: 'ReserveSlug', slug: 'bakery', websiteId: 'w2' } as const;
  const held = { type: 'SlugReserved', data: { slug: 'bakery', websiteId: 'w1' } } as const;
  const after = (ms: number): string => new Date(Date.parse(earlier) + ms).toISOString();

  test('a free slug is taken', () => {
    given(slugDecider)
      .when(reserve)
      .then([{ type: 'SlugReserved', data: { slug: 'bakery', websiteId: 'w2' } }]);
  });

  test('a slug whose website exists is refused, however old the reservation', () => {
    given(slugDecider, [held]).when(reserve).thenRefused(refusals.slugTaken());
  });

  test('a slug whose website has not appeared is refused within 60 s', () => {
    given(slugDecider, [held])
      .when({ ...reserve, abandonedBy: 'w1', at: after(59_999) })
      .thenRefused(refusals.slugTaken());
  });

  test('… and may be taken over after that', () => {
    given(slugDecider, [held])
      .when({ ...reserve, abandonedBy: 'w1', at: after(60_000) })
      .then([{ type: 'SlugReserved', data: { slug: 'bakery', websiteId: 'w2' } }]);
  });

  test('a look-up of another holder than the present one does not count', () => {
    given(slugDecider, [held])
      .when({ ...reserve, abandonedBy: 'w0', at: after(60_000) })
      .thenRefused(refusals.slugTaken());
  });

  test('repeated changes nothing', () => {
    expectRepeatable(slugDecider, [], reserve);
  });
});

describe('the reservation of a slug', () => {
  const of = { slug: 'bread', websiteId: 'w1' };
  const reserved: SlugEvent = { type: 'SlugReserved', data: of };
  const reservedUntil = '2026-03-01T00:00:00.000Z';
  const released: SlugEvent = { type: 'SlugReleased', data: { ...of, reservedUntil } };
  const release = { type: 'ReleaseSlug', ...of, position: 8n, reservedUntil } as const;
  const reserve = { type: 'ReserveSlug', ...of, validFrom: 1n } as const;

  test('is released by its website, unless that reserved it again since', () => {
    given(slugDecider, [recorded(reserved, { revision: 3 })])
      .when(release)
      .then([released]);
    given(slugDecider, [recorded(reserved, { revision: 8 })])
      .when(release)
      .then([]);
    given(slugDecider, [reserved])
      .when({ ...release, websiteId: 'w2' })
      .then([]);
    given(slugDecider, [reserved, released]).when(release).then([]);
  });

  test('that was released is the same website’s at once, and anybody’s after its time', () => {
    const others = { ...reserve, websiteId: 'w2' } as const;
    given(slugDecider, [reserved, released]).when(reserve).then([reserved]);
    given(slugDecider, [reserved, released]).when(others).thenRefused(refusals.slugTaken());
    given(slugDecider, [reserved, released])
      .when({ ...others, at: reservedUntil })
      .then([{ type: 'SlugReserved', data: { slug: 'bread', websiteId: 'w2' } }]);
  });

  test('is renewed when it was made before the website last had another slug', () => {
    const renew = { ...reserve, validFrom: 2n } as const;
    given(slugDecider, [reserved]).when(reserve).then([]);
    given(slugDecider, [reserved]).when(renew).then([reserved]);
    expectRepeatable(slugDecider, [reserved], renew);
    expectRepeatable(slugDecider, [reserved], release);
  });
});

test('a deleted website frees its slugs, and nobody else’s', () => {
  const free = { type: 'FreeSlug', slug: 'bakery', websiteId: 'w1' } as const;
  const reserved: SlugEvent = { type: 'SlugReserved', data: { slug: 'bakery', websiteId: 'w1' } };
  const freed: SlugEvent = { type: 'SlugReleased', data: { slug: 'bakery', websiteId: 'w1' } };
  given(slugDecider, [reserved]).when(free).then([freed]);
  given(slugDecider, [reserved])
    .when({ ...free, websiteId: 'w2' })
    .then([]);
  given(slugDecider, [reserved, freed])
    .when({ type: 'ReserveSlug', slug: 'bakery', websiteId: 'w2' })
    .then([{ type: 'SlugReserved', data: { slug: 'bakery', websiteId: 'w2' } }]);
});
