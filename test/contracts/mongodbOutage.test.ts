import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { createMongoReadModelStore } from '../../src/projections/store/mongodb/mongoReadModelStore.js';
import { ReadModelStoreUnavailable } from '../../src/projections/store/readModelStore.js';
import { createScriptedMongo, type ScriptedMongo } from '../support/scriptedMongo.js';

/** What an operator reads who mistyped READ_MODEL_URL. */
const messageOf = async (url: string): Promise<string> => {
  const store = await createMongoReadModelStore({ url, clock: systemClock, random: systemRandom });
  try {
    await store.ping();
  } catch (fault) {
    expect(fault).toBeInstanceOf(ReadModelStoreUnavailable);
    return (fault as Error).message;
  } finally {
    await store.close();
  }
  throw new Error('it could be reached');
};

const at = (hosts: string): string => `the read-model store at ${hosts} (READ_MODEL_URL) cannot be used: `;

describe('the message of an outage has the setting, the address without credentials, and the driver’s reason', () => {
  let mongo: ScriptedMongo;

  beforeAll(async () => {
    mongo = await createScriptedMongo('replica set');
  });
  afterAll(() => mongo.close());

  test.each([
    ['nobody listens at the port', '127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1'],
    ['the host is unknown', 'nowhere.invalid:27017', /getaddrinfo (?:ENOTFOUND|EAI_AGAIN) nowhere\.invalid/],
    [
      'none of several can be reached',
      '127.0.0.1:1,127.0.0.1:2',
      /127\.0\.0\.1:1: .*ECONNREFUSED.*; 127\.0\.0\.1:2: .*ECONNREFUSED/,
    ],
  ])('%s', async (_, hosts, reason) => {
    const message = await messageOf(`mongodb://us3rname:s3cret@${hosts}/doorstep`);
    expect(message).toContain(at(hosts));
    expect(message).toMatch(reason);
    expect(message).not.toMatch(/us3rname|s3cret/);
  });

  test('the replica set has another name', async () => {
    const message = await messageOf(`mongodb://${mongo.address}/doorstep?replicaSet=other`);
    expect(message).toContain(at(mongo.address));
    expect(message).toContain('none of the servers belongs to a replica set with the name other; check replicaSet');
  });

  test('the password is wrong', async () => {
    mongo.script(({ name }) =>
      name === 'saslStart' ? { ok: 0, code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication failed.' } : undefined,
    );
    const message = await messageOf(`mongodb://us3rname:s3cret@${mongo.address}/doorstep`);
    mongo.script(() => undefined);
    expect(message).toBe(`${at(mongo.address)}MongoServerError 18: Authentication failed.`);
  });

  test('the server has no TLS, and closes the connection', async () => {
    const plain = createServer((socket) => socket.on('data', () => socket.destroy())).listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const hosts = `127.0.0.1:${String((plain.address() as AddressInfo).port)}`;
    const message = await messageOf(`mongodb://${hosts}/doorstep?tls=true`);
    plain.close();
    expect(message).toContain(at(hosts));
    expect(message).toMatch(/TLS|SSL|secure/);
  });

  test('the server has no TLS, and waits for more', async () => {
    const plain = await createScriptedMongo('standalone');
    const message = await messageOf(`mongodb://${plain.address}/doorstep?tls=true`);
    await plain.close();
    expect(message).toContain(`${plain.address}: it does not answer; is TLS set as the server wants it?`);
  });
});
