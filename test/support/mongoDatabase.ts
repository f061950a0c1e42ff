import { randomUUID } from 'node:crypto';
import { afterAll } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { createMongoReadModelStore } from '../../src/projections/store/mongodb/mongoReadModelStore.js';
import type { ReadModelStore } from '../../src/projections/store/readModelStore.js';
import type { RealServer } from './realServers.js';

const made: string[] = [];

afterAll(async () => {
  for (const url of made.splice(0)) {
    const client = new MongoClient(url);
    await client.db().dropDatabase();
    await client.close();
  }
});

/** The address of a new, empty database, which is removed after the test file. */
export const mongoDatabase = ({ url }: Pick<RealServer, 'url'>): string => {
  const [, server = '', database = '', written = ''] = /^([^/]+\/\/[^/?]+)\/?([^?]*)\??(.*)$/.exec(url) ?? [];
  const options = new URLSearchParams(written);
  // The driver takes the address's database for the one that holds the credentials, so that one has
  // to be named now.
  if (server.includes('@') && !options.has('authSource') && !options.has('authMechanism'))
    options.set('authSource', database === '' ? 'admin' : database);
  const address = `${server}/doorstep-test-${randomUUID().slice(0, 8)}?${options.toString()}`;
  made.push(address);
  return address;
};

/**
 * Opens stores on the server. Stores of the same folder share a database, as embedded stores share
 * a folder.
 */
export const mongoReadModels = (server: RealServer): ((folder: string) => Promise<ReadModelStore>) => {
  const urls = new Map<string, string>();
  return (folder) => {
    const url = urls.get(folder) ?? mongoDatabase(server);
    urls.set(folder, url);
    return createMongoReadModelStore({ url, clock: systemClock, random: systemRandom });
  };
};
