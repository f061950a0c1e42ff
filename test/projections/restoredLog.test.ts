import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { createEmbeddedEventStore } from '../../src/events/store/embedded/eventStore.js';
import type { EventStore, NewEvent } from '../../src/events/store/eventStore.js';
import { copyDatabase } from '../../src/operations/copyFolder.js';
import { systemClock as clock } from '../../src/platform/clock.js';
import { systemRandom as random } from '../../src/platform/random.js';
import { guardLogIdentity } from '../../src/projections/runner/logIdentity.js';
import { temporaryFolder } from '../support/temporary.js';
import {
  added,
  freshFold,
  labelled,
  liveDocuments,
  thingProjection,
  thingWorld,
  untilReached,
  type ThingWorld,
} from '../support/things.js';

const opened: EventStore[] = [];
afterEach(async () => {
  for (const log of opened.splice(0)) await log.close();
});

/** The log in a file, as a process of its own opens it. */
const openLog = async (file: string, { readModels }: ThingWorld): Promise<EventStore> => {
  const log = await createEmbeddedEventStore({ file, clock });
  opened.push(log);
  return guardLogIdentity({ eventStore: log, readModels, projections: [thingProjection], clock, random }).eventStore;
};

const append = async (log: EventStore, ...events: readonly NewEvent[]): Promise<bigint> => {
  let position = 0n;
  for (const event of events) ({ position } = await log.append(`thing-${event.data['id'] as string}`, [event], 'any'));
  return position;
};

/** A log that was restored from a backup, with the read models of what came after the backup. */
const restored = async (): Promise<{ world: ThingWorld; log: EventStore; file: string }> => {
  const [world, folder] = [await thingWorld(), temporaryFolder()];
  const [file, backup] = [join(folder, 'events.db'), join(folder, 'backup.db')];
  const before = await openLog(file, world);
  await append(before, added('a'), labelled('a', 'kept'));
  copyDatabase(file, backup);
  const projector = world.projector({ eventStore: before });
  await projector.start();
  const end = await append(before, labelled('a', 'lost'), added('lost'), labelled('lost', 'lost'));
  await untilReached(thingProjection, world.readModels, end);
  await projector.stop();
  return { world, log: await openLog(backup, world), file: backup };
};

test.each([
  ['before', 1],
  ['when', 3],
  ['after', 10],
])('read models of events that a restored log lacks are folded anew, also %s the log has come as far again', async (_, count) => {
  const { world, log } = await restored();
  const { readModels } = world;
  const end = await append(log, ...Array.from({ length: count }, (_each, index) => added(`new-${String(index)}`)));
  await world.projector({ eventStore: log }).start();
  await untilReached(thingProjection, readModels, end);
  const documents = await liveDocuments(thingProjection, readModels);
  expect(documents).toEqual(await freshFold(thingProjection, log));
  expect(documents.get('a')).toMatchObject({ label: 'kept' });
});

test('nothing is read from them from the first call on, and they are replaced once', async () => {
  const { world, log, file } = await restored();
  const { readModels } = world;
  await log.lastPosition();
  expect(await liveDocuments(thingProjection, readModels)).toEqual(new Map());
  const version = await readModels.liveVersion('thing');
  await world.projector({ eventStore: log }).start();
  await untilReached(thingProjection, readModels, await append(log, added('b')));
  await (await openLog(file, world)).lastPosition();
  expect(await readModels.liveVersion('thing')).toBe(version);
});

test('those of a log that has all their events stay', async () => {
  const [world, file] = [await thingWorld(), join(temporaryFolder(), 'events.db')];
  const log = await openLog(file, world);
  await world.projector({ eventStore: log }).start();
  await untilReached(thingProjection, world.readModels, await append(log, added('a'), added('b')));
  await (await openLog(file, world)).lastPosition();
  expect(await world.readModels.liveVersion('thing')).toBe('1');
});
