import { beforeEach, describe, expect, test } from '@jest/globals';
import { linkRole } from '../../src/events/access/access.state.js';
import { addClient } from '../../src/commands/access/access.handlers.js';
import { createClient } from '../../src/commands/client/client.handlers.js';
import { TooManyConflicts, type CommandContext } from '../../src/commands/handleCommand.js';
import { Refused, refusals } from '../../src/commands/refusal.js';
import { featuresOf, reservationMs, slugDecider, websiteDecider } from '../../src/commands/website/website.decider.js';
import { changeWebsite, createWebsite, isSlugTaken } from '../../src/commands/website/website.handlers.js';
import { EventStoreUnavailable } from '../../src/events/store/eventStore.js';
import { websiteProjection } from '../../src/projections/website/website.projection.js';
import { logOf, outcomes, planningOf, startEngine, type EngineProcess } from '../support/engineProcess.js';
import { after, unavailable, type AppendFault } from '../support/faultyEventStore.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock, passTimeDuring, type TestClock } from '../support/testClock.js';
import { slugStream, websiteStream } from '../../src/events/website/website.stream.js';
import { accessFold } from '../../src/events/access/access.state.js';

const input = { name: 'Bakery', slug: 'bakery', templateId: 'business', tier: 'starter', collaborators: [] } as const;

let clock: TestClock;
let local: EngineProcess;
let other: EngineProcess;

beforeEach(async () => {
  clock = createTestClock();
  const folder = temporaryFolder();
  [local, other] = [await startEngine(clock, folder), await startEngine(clock, folder)];
});

const create = ({ engine, context }: EngineProcess, as: CommandContext = context()): Promise<{ websiteId: string }> =>
  createWebsite(engine, input, as);

/** Ids of the websites that exist according to the log. */
const created = async (): Promise<readonly string[]> =>
  (await logOf(local)).flatMap(([stream, type]) => (type === 'WebsiteCreated' ? [stream.slice('website-'.length)] : []));

/** Lets the append of a website's own events go wrong, and every other one pass. */
const onWebsiteStream =
  (process: EngineProcess, fault: AppendFault): AppendFault =>
  (append, stream) => {
    if (stream.startsWith('website-')) return fault(append, stream);
    process.eventStore.appendFaults.unshift(onWebsiteStream(process, fault));
    return append();
  };

/** A creation that ends between its reservation and the website itself. */
const crashAfterReserving = async (as: CommandContext): Promise<void> => {
  local.eventStore.appendFaults.push(onWebsiteStream(local, unavailable));
  await expect(create(local, as)).rejects.toThrow(EventStoreUnavailable);
  expect(await logOf(local)).toEqual([[slugStream.name({ slug: 'bakery' }), 'SlugReserved']]);
};

describe('createWebsite', () => {
  test('reserves the slug, then creates the website with the features of its tier and a job to be', async () => {
    const { websiteId } = await create(local);
    expect(await logOf(local)).toEqual([
      [slugStream.name({ slug: 'bakery' }), 'SlugReserved'],
      [websiteStream.name({ websiteId }), 'WebsiteCreated'],
    ]);
    const { document } = await other.engine.read(websiteProjection, websiteId);
    expect(document).toMatchObject({ id: websiteId, slug: 'bakery', status: 'provisioning', features: featuresOf('starter') });
    expect(document?.provisioningJobId).toMatch(/^[0-9a-z]{26}$/);
    expect(document?.provisioningJobId).not.toBe(websiteId);
  });

  test.each([
    ['an unknown client', { clientId: 'nobody' }, refusals.clientNotFound('nobody')],
    ['a feature above the tier', { features: ['seo'] }, refusals.featureNotOnTier('seo', 'starter')],
  ] as const)('refuses %s before it takes the slug', async (_, changes, refusal) => {
    const { engine, context } = local;
    const creating = createWebsite(engine, { ...input, ...changes }, context());
    await expect(creating).rejects.toEqual(new Refused(refusal));
    expect(await logOf(local)).toEqual([]);
  });

  test('with an owner, who exists', async () => {
    const clientId = await createClient(local.engine, { email: 'anna@example.com' }, local.context());
    const { websiteId } = await createWebsite(other.engine, { ...input, clientId }, other.context());
    expect((await local.engine.read(websiteProjection, websiteId)).document?.clientId).toBe(clientId);
  });

  test('refuses a slug that is taken, however long ago', async () => {
    const { websiteId } = await create(local);
    await clock.advance(10 * reservationMs);
    await expect(create(other)).rejects.toEqual(new Refused(refusals.slugTaken()));
    expect(await created()).toEqual([websiteId]);
  });

  test('many at once for one slug: exactly one', async () => {
    const creating = [local, other].flatMap((at) => Array.from({ length: 5 }, () => create(at)));
    const { values, refusals: refused } = await passTimeDuring(clock, outcomes(creating));
    expect(refused).toEqual(Array.from({ length: 9 }, () => refusals.slugTaken()));
    expect(await created()).toEqual(values.map(({ websiteId }) => websiteId));
  });

  test('the same command again, at once or later: the same website', async () => {
    const as = local.context();
    const [first, second] = await Promise.all([create(local, as), create(other, as)]);
    await clock.advance(10 * reservationMs);
    expect([second, await create(other, as)]).toEqual([first, first]);
    expect(await logOf(local)).toHaveLength(2);
  });

  test('a dry run returns both events and reserves nothing', async () => {
    const plan = planningOf(local);
    await create(plan);
    expect(plan.planned.map(({ type }) => type)).toEqual(['SlugReserved', 'WebsiteCreated']);
    expect(await logOf(local)).toEqual([]);
    await create(other);
  });
});

describe('a creation that ended between its reservation and the website', () => {
  test.each([0, reservationMs - 1, reservationMs, 24 * 3_600_000])('is completed by the same command %d ms later', async (ms) => {
    const as = local.context();
    await crashAfterReserving(as);
    await clock.advance(ms);
    const { websiteId } = await create(other, as);
    expect(await created()).toEqual([websiteId]);
  });

  test('keeps its slug for 60 s', async () => {
    await crashAfterReserving(local.context());
    await clock.advance(reservationMs - 1);
    await expect(create(other)).rejects.toEqual(new Refused(refusals.slugTaken()));
    expect(await logOf(local)).toHaveLength(1);
  });

  test('loses its slug after 60 s to the next request for it, and can never be completed', async () => {
    const as = local.context();
    await crashAfterReserving(as);
    await clock.advance(reservationMs);
    const { websiteId } = await create(other);
    await expect(create(local, as)).rejects.toEqual(new Refused(refusals.slugTaken()));
    expect(await created()).toEqual([websiteId]);
  });

  test('loses its slug to exactly one of many who ask at once', async () => {
    await crashAfterReserving(local.context());
    await clock.advance(reservationMs);
    const creating = [local, other].flatMap((at) => [create(at), create(at), create(at)]);
    const { values, refusals: refused } = await passTimeDuring(clock, outcomes(creating));
    expect(refused).toEqual(Array.from({ length: 5 }, () => refusals.slugTaken()));
    expect(await created()).toEqual(values.map(({ websiteId }) => websiteId));
  });

  test('is not a website after its slug was taken over', async () => {
    await crashAfterReserving(local.context());
    await clock.advance(reservationMs);
    await create(other);
    const abandoned = (await logOf(local)).find(([, type]) => type === 'WebsiteCreationAbandoned')?.[0].slice('website-'.length);
    expect(await local.engine.read(websiteProjection, abandoned ?? '')).toMatchObject({ document: null, revision: 0n });
    const changing = changeWebsite(local.engine, { websiteId: abandoned ?? '', name: 'Other' }, local.context());
    await expect(changing).rejects.toEqual(new Refused(refusals.websiteNotFound(abandoned ?? '')));
  });

  test('is taken over again when the creation that took it over was interrupted as well', async () => {
    await crashAfterReserving(local.context());
    await clock.advance(reservationMs);
    const { eventStore } = other;
    eventStore.appendFaults.push((append) => append(), unavailable);
    await expect(create(other)).rejects.toThrow(EventStoreUnavailable);
    const { websiteId } = await create(local);
    expect(await created()).toEqual([websiteId]);
  });

  test('a dry run of a take-over takes nothing over', async () => {
    const as = local.context();
    await crashAfterReserving(as);
    await clock.advance(reservationMs);
    const plan = planningOf(other);
    await create(plan);
    expect(plan.planned.map(({ type }) => type)).toEqual(['WebsiteCreationAbandoned', 'SlugReserved', 'WebsiteCreated']);
    await create(local, as);
    expect(await created()).toHaveLength(1);
  });
});

describe('a creation that is held up for 60 s after its reservation', () => {
  const takenOver = async (): Promise<void> => {
    await clock.advance(reservationMs);
    taken = (await create(other)).websiteId;
  };
  let taken: string;

  test('is refused when somebody else got the slug meanwhile', async () => {
    local.eventStore.appendFaults.push(async (append) => {
      const result = await append();
      await takenOver();
      return result;
    });
    await expect(create(local)).rejects.toEqual(new Refused(refusals.slugTaken()));
    expect(await created()).toEqual([taken]);
  });

  test('is not written either when it was already on its way to the log', async () => {
    const as = local.context();
    local.eventStore.appendFaults.push(onWebsiteStream(local, after(takenOver)));
    await expect(passTimeDuring(clock, create(local, as))).rejects.toThrow(TooManyConflicts);
    expect(await created()).toEqual([taken]);
    await expect(create(local, as)).rejects.toEqual(new Refused(refusals.slugTaken()));
  });

  test('keeps the slug when it comes through just before it is taken over', async () => {
    const as = local.context();
    await crashAfterReserving(as);
    await clock.advance(reservationMs);
    other.eventStore.appendFaults.push(
      onWebsiteStream(
        other,
        after(() => create(local, as)),
      ),
    );
    await expect(passTimeDuring(clock, create(other))).rejects.toEqual(new Refused(refusals.slugTaken()));
    expect(await created()).toHaveLength(1);
  });
});

describe('isSlugTaken', () => {
  const isTaken = () => isSlugTaken(other.engine, 'bakery');

  test('however long the website has had it, and by one that never appeared for 60 s', async () => {
    expect(await isTaken()).toBe(false);
    await crashAfterReserving(local.context());
    expect(await isTaken()).toBe(true);
    await clock.advance(reservationMs);
    expect(await isTaken()).toBe(false);
    await create(local);
    await clock.advance(10 * reservationMs);
    expect(await isTaken()).toBe(true);
  });
});

describe('the slug of a deleted website', () => {
  const remove = async (): Promise<string> => {
    const { engine, context } = local;
    const { websiteId } = await create(local);
    await engine.handle(websiteDecider, { type: 'ArchiveWebsite', websiteId }, context());
    const { state } = await engine.handle(websiteDecider, { type: 'ScheduleDeletion', websiteId, keep: [] }, context());
    const purgeAt = (state.stage === 'none' ? undefined : state.deletion?.purgeAt) ?? '';
    await clock.sleep(Date.parse(purgeAt) - clock.now());
    await engine.handle(websiteDecider, { type: 'DeleteWebsite', websiteId, purgeAt }, context());
    return websiteId;
  };

  test('is taken until it is freed, for a new website and for a change of another', async () => {
    const websiteId = await remove();
    const { websiteId: neighbour } = await createWebsite(local.engine, { ...input, slug: 'neighbour' }, local.context());
    const move = () => changeWebsite(other.engine, { websiteId: neighbour, slug: 'bakery' }, other.context());
    for (const taking of [create(other), move()]) await expect(taking).rejects.toEqual(new Refused(refusals.slugTaken()));
    expect(await isSlugTaken(other.engine, 'bakery')).toBe(true);

    await local.engine.handle(slugDecider, { type: 'FreeSlug', slug: 'bakery', websiteId }, local.context());
    expect(await isSlugTaken(other.engine, 'bakery')).toBe(false);
    await move();
  });

  test('that it only reserved, for a change that never came, may be taken over', async () => {
    const websiteId = await remove();
    await local.engine.handle(slugDecider, { type: 'ReserveSlug', slug: 'bread', websiteId }, local.context());
    await clock.advance(reservationMs);
    await createWebsite(other.engine, { ...input, slug: 'bread' }, other.context());
  });
});

describe('changeWebsite', () => {
  test('refuses an unknown owner, and leaves the rest as it was', async () => {
    const { websiteId } = await create(local);
    const changing = changeWebsite(local.engine, { websiteId, name: 'Other', clientId: 'nobody' }, local.context());
    await expect(changing).rejects.toEqual(new Refused(refusals.clientNotFound('nobody')));
    expect((await local.engine.read(websiteProjection, websiteId)).document?.name).toBe('Bakery');
  });

  test('refuses to change what somebody else has changed meanwhile', async () => {
    const { websiteId } = await create(local);
    const rename = (name: string) => changeWebsite(local.engine, { websiteId, name }, local.context(), { expectedRevision: 0n });
    await rename('First');
    await expect(rename('Second')).rejects.toEqual(new Refused(refusals.stale()));
  });

  test("takes the new owner's link away, and nobody else's", async () => {
    const { websiteId } = await create(local);
    const [anna, berta] = await Promise.all(
      ['anna@example.com', 'berta@example.com'].map(async (email) => {
        const clientId = await createClient(local.engine, { email }, local.context());
        await addClient(local.engine, { websiteId, email, role: 'viewer' }, local.context());
        return clientId;
      }),
    );
    await changeWebsite(other.engine, { websiteId, ...(anna !== undefined && { clientId: anna }) }, other.context());
    const roleOf = async (clientId = '') => linkRole((await local.engine.state(accessFold, { websiteId, clientId })).state);
    expect([await roleOf(anna), await roleOf(berta)]).toEqual([undefined, 'viewer']);
    expect((await local.engine.read(websiteProjection, websiteId)).document?.clientId).toBe(anna);
  });
});
