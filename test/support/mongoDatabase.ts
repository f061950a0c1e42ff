import { randomUUID } from 'node:crypto';
import { afterAll } from '@jest/globals';
import { MongoClient } from 'mongodb';
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
  const [, server = '', options = ''] = /^([^/]+\/\/[^/?]+)[^?]*(\?.*)?$/.exec(url) ?? [];
  const address = `${server}/doorstep-test-${randomUUID().slice(0, 8)}${options}`;
  made.push(address);
  return address;
};
