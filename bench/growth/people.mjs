/** A website of many people, a client of many websites, a full calendar, each beside its like of ten: one more, one read, one less. */
import { call } from '../support/api.mjs';
import { actsInTurns, growthFigure, readsInTurns } from '../support/growth.mjs';

/** @typedef {import('../support/growth.mjs').Side} Side */

/** @param {import('../support/growth.mjs').World} world */
export const measure = async (world) => {
  const { many } = world;
  const { large, small, clientIds } = many.seed;
  const emailOf = (/** @type {string} */ clientId) => `person-${clientIds.indexOf(clientId)}@example.com`;
  /** @type {(clientId: string) => Promise<Side>} */
  const as = async (clientId) => ({ ...many, headers: await many.headersOf(emailOf(clientId)) });
  const [ofMany, ofTen] = [await as(large.client), await as(small.client)];

  return many.running('api,projector', async (doorstep) => {
    const api = { url: doorstep.url, headers: many.headers };
    /** @type {import('../support/figures.mjs').Figure[]} */
    const figures = [];
    /**
     * @template Of
     * @param {string} name
     * @param {(of: Of, index: number) => Promise<unknown>} act
     * @param {Of} first
     * @param {Of} second
     */
    const compare = async (name, act, first, second) => {
      const values = await actsInTurns(
        world,
        (index) => act(first, index),
        (index) => act(second, index),
      );
      figures.push(growthFigure(name, values, { unit: 'ms' }));
    };
    /**
     * @param {string} name
     * @param {readonly [Side, string]} first
     * @param {readonly [Side, string]} second
     */
    const compareReads = async (name, [one, path], [other, otherPath]) => {
      const values = await readsInTurns(world, [doorstep, one, () => path], [doorstep, other, () => otherPath]);
      figures.push(growthFigure(name, values, { unit: 'ms' }));
    };
    /** @type {(path: (of: typeof large) => string) => readonly [readonly [Side, string], readonly [Side, string]]} */
    const both = (path) => [
      [many, path(large)],
      [many, path(small)],
    ];

    const websites = [large.people, small.people];
    const people = websites.map(() => /** @type {string[]} */ ([]));
    // Of this run: on an installation that is kept, those of earlier runs are known.
    const run = Date.now();
    await compare(
      'one more person',
      async (of, index) => {
        const email = `new-${run}-${of}-${index}@example.com`;
        const { id } = /** @type {{ id: string }} */ (await call(api, 'POST', '/v1/clients', { email }));
        await call(api, 'POST', `/v1/websites/${websites[of] ?? ''}/clients`, { email, role: 'viewer' });
        people[of]?.push(id);
      },
      0,
      1,
    );
    await compareReads('website of many people', ...both((of) => `/v1/websites/${of.people}`));
    await compareReads('a page of its people', ...both((of) => `/v1/websites/${of.people}/clients?limit=10`));
    await compareReads(
      'access of one of its people',
      ...both((of) => `/v1/websites/${of.people}/access?email=person-1@example.com`),
    );
    await compare(
      'a look at its delivery',
      (of) => call(api, 'POST', `/v1/websites/${of}/delivery/seen`, { revision: 0 }),
      large.people,
      small.people,
    );
    await compareReads('a page of its readers', ...both((of) => `/v1/websites/${of.people}/delivery/readers?limit=10`));
    await compare(
      'one person less',
      (of) => call(api, 'DELETE', `/v1/websites/${websites[of] ?? ''}/clients/${people[of]?.pop() ?? ''}`),
      0,
      1,
    );

    const linked = (/** @type {number} */ index) => many.seed.websiteIds[20 + index] ?? '';
    await compare(
      'one more website of a client',
      (of, index) => call(api, 'POST', `/v1/websites/${linked(index)}/clients`, { email: emailOf(of), role: 'viewer' }),
      large.client,
      small.client,
    );
    const newest = `/v1/websites/${linked(0)}`;
    await compareReads('a website of theirs', [ofMany, newest], [ofTen, newest]);
    await compareReads('a page of their websites', [ofMany, '/v1/me/websites?limit=10'], [ofTen, '/v1/me/websites?limit=10']);
    await compare(
      'one website less of a client',
      (of, index) => call(api, 'DELETE', `/v1/websites/${linked(index)}/clients/${of}`),
      large.client,
      small.client,
    );

    const calendars = [large.calendar, small.calendar];
    const bookings = calendars.map(() => /** @type {string[]} */ ([]));
    await compare(
      'one more booking',
      async (of, index) => {
        const times = { start: `2027-01-01T10:00:00.${String(100 + index)}Z`, end: '2027-01-01T11:00:00.000Z' };
        const { id } = /** @type {{ id: string }} */ (
          await call(api, 'POST', `/v1/websites/${calendars[of] ?? ''}/bookings`, { title: 'Visit', ...times })
        );
        bookings[of]?.push(id);
      },
      0,
      1,
    );
    await compareReads(
      'a page of bookings',
      ...both((of) => `/v1/websites/${of.calendar}/bookings?from=2026-01-01T00:00:00Z&limit=10`),
    );
    await compare(
      'one booking less',
      (of) => call(api, 'DELETE', `/v1/websites/${calendars[of] ?? ''}/bookings/${bookings[of]?.pop() ?? ''}`),
      0,
      1,
    );
    return figures;
  });
};
