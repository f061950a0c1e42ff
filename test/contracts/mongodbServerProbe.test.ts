import { afterEach, expect, test } from '@jest/globals';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { createMongoReadModelStore, type MongoReadModelStore } from '../../src/projections/store/mongodb/mongoReadModelStore.js';
import { mongoDatabase } from '../support/mongoDatabase.js';
import { forEachReadModelServer } from '../support/realServers.js';
import { createScriptedMongo, type Command, type Fields, type ScriptedMongo } from '../support/scriptedMongo.js';
import { launchServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

const startDouble = async (): Promise<ScriptedMongo> => {
  const double = await createScriptedMongo('standalone');
  opened.push(double);
  return double;
};

const openStore = async (url: string): Promise<MongoReadModelStore> => {
  const store = await createMongoReadModelStore({ url, clock: systemClock, random: systemRandom });
  opened.push(store);
  return store;
};

const isReplacement = ({ name, fields }: Command): boolean =>
  name === 'update' && (fields['updates'] as readonly Fields[]).some(({ q }) => 'round' in (q as Fields));

/** Every replacement from the given one on is answered as done, also those that come too late. */
const losesFrom = (double: ScriptedMongo, first: number): void => {
  let count = 0;
  double.script((command) => {
    if (!isReplacement(command)) return undefined;
    count += 1;
    return count > first ? { ok: 1, n: 1, nModified: 1 } : undefined;
  });
};

test('a server whose replacements on a condition are atomic passes, after 32 rounds of eight', async () => {
  const double = await startDouble();
  await (await openStore(`mongodb://${double.address}/doorstep`)).probeServer();
  expect(double.commands.filter(isReplacement)).toHaveLength(32 * 8);
  const records = double.commands.filter(({ name, target }) => name === 'delete' && target === 'records');
  expect(records).toHaveLength(1);
});

test.each([
  ['always', 0],
  ['in the last round only', 31 * 8],
])('one that loses updates %s does not', async (_, first) => {
  const double = await startDouble();
  losesFrom(double, first);
  const store = await openStore(`mongodb://${double.address}/doorstep`);
  await expect(store.probeServer()).rejects.toThrow('the server loses updates: of 8 replacements at once');
});

test('a build that passed is not probed again; another one is', async () => {
  const double = await startDouble();
  const store = await openStore(`mongodb://${double.address}/doorstep`);
  await store.probeServer();
  const before = double.commands.length;
  await store.probeServer();
  expect(double.commands.slice(before).filter(isReplacement)).toEqual([]);
  double.script(({ name }) => (name === 'buildInfo' ? { ok: 1, version: '9.0.0' } : undefined));
  await store.probeServer();
  expect(double.commands.slice(before).filter(isReplacement)).toHaveLength(32 * 8);
});

test('the service does not start on one that loses updates, and says which setting to change', async () => {
  const double = await startDouble();
  losesFrom(double, 0);
  const server = launchServer(temporaryFolder(), { READ_MODEL_URL: `mongodb://${double.address}/doorstep` });
  expect(await server.ended).toBe(1);
  expect(server.written()).toContain('READ_MODEL_URL: the server loses updates');
});

forEachReadModelServer((server) => {
  test(`${server.name} passes`, async () => {
    await (await openStore(mongoDatabase(server))).probeServer();
  });
});
