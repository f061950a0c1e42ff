/** Lists and what they are filtered and sorted by: of a hundred times as many, and of a client of thousands of websites. */
import { flat, growthFigure, readsInTurns } from '../support/growth.mjs';

/**
 * @typedef {import('../support/growth.mjs').Side} Side
 * @typedef {(side: Side, index: number) => string} PathOf
 */

const some = (/** @type {readonly string[]} */ ids, /** @type {number} */ index) => ids[(10 + index * 7_919) % ids.length] ?? '';

/** What is asked of both installations; every path finds about as much in each. @type {readonly (readonly [string, PathOf])[]} */
const filters = [
  ['websites', () => '/websites'],
  ['websites by status', () => '/websites?status=active'],
  ['websites by tier and feature', () => '/websites?tier=scale&feature=seo'],
  ['websites by attention', () => '/websites?attention=late'],
  ['websites by provisioning, sorted', () => '/websites?provisioning=succeeded&sort=-estimatedCompletionAt'],
  ['websites of a status, sorted by it', () => '/websites?status=active&sort=-status'],
  ['websites by what no status has', () => '/websites?status=provisioning&sort=name'],
  ['websites sorted by name', (_, index) => `/websites?sort=${index % 2 === 0 ? 'name' : '-name'}`],
  ['websites by owner', ({ seed }, index) => `/websites?clientId=${some(seed.clientIds, index)}`],
  ['websites by a part of a name', (_, index) => `/websites?q=${['bench', 'site', 'benc'][index % 3]}`],
  ['websites by two characters', (_, index) => `/websites?q=${['be', 'zq', '-s'][index % 3]}`],
  ['websites by a character that none has', () => '/websites?q=%E2%82%AC'],
  ['clients', () => '/clients'],
  ['clients by a part of a name', (_, index) => `/clients?q=${['dmitri', 'number', 'example.com'][index % 3]}`],
  ['clients by two characters', (_, index) => `/clients?q=${['bj', 'zq', 'mb'][index % 3]}`],
  ['clients by address', (_, index) => `/clients?email=person-${index % 20}@example.com`],
  ['search', (_, index) => `/search?q=${['be', 'site', 'dm', 'zzz'][index % 4]}`],
  ['audit by website', ({ seed }, index) => `/audit?websiteId=${some(seed.websiteIds, index)}`],
  ['audit by actor and time', () => '/audit?actor=bench&from=2020-01-01&to=2040-01-01'],
  ['audit of a time long before', () => '/audit?to=2000-01-01'],
];

/** Lists of everything: what they cost grows with it. @type {readonly (readonly [string, PathOf])[]} */
const everything = [
  ['websites counted', () => '/websites?count=true&limit=1'],
  ['clients sorted by address', () => '/clients?sort=email&limit=10'],
];

/** @param {import('../support/growth.mjs').World} world */
export const measure = async (world) => {
  const { few, many } = world;
  return many.running('api,projector', (large) =>
    few.running('api,projector', async (small) => {
      const figures = [];
      for (const [lists, aim] of /** @type {const} */ ([
        [filters, flat],
        [everything, { atMost: 3 }],
      ])) {
        for (const [name, pathOf] of lists) {
          const of = (/** @type {Side} */ side) => (/** @type {number} */ index) => `/v1${pathOf(side, index)}`;
          const times = await readsInTurns(world, [large, many, of(many)], [small, few, of(few)]);
          figures.push(growthFigure(name, times, { unit: 'ms', aim }));
        }
      }
      const { seed } = many;
      const ofClient = (/** @type {string} */ clientId) => () => `/v1/websites?clientId=${clientId}&limit=10`;
      const times = await readsInTurns(
        world,
        [large, many, ofClient(seed.large.client)],
        [large, many, ofClient(seed.small.client)],
      );
      figures.push(
        growthFigure(`websites of a client of ${seed.sizes.client}, and of 10`, times, { unit: 'ms', aim: { atMost: 3 } }),
      );
      return figures;
    }),
  );
};
