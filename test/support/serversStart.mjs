/**
 * The real engines that this run of the tests has beside the embedded ones: found or started before
 * the first test, stopped after the last. Jest's `globalSetup`; realServers.ts is what tests see of
 * it, serversStop.mjs ends it.
 *
 * For MongoDB and for EventStoreDB, the first of these that is there: the server named by
 * `TEST_READ_MODEL_URL` or `TEST_EVENT_STORE_URL` (tests make databases and streams of their own on
 * it); `mongod` or `eventstored` on the PATH, on a temporary folder; a container. For MongoDB's
 * wire, always, the compatible server that test/support/mongo/install installs: CI requires it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** @typedef {{ name: string, url: string }} RealServer */

/** @type {(() => Promise<unknown>)[]} */
const stops = [];
let summary = '';

export default async function start() {
  try {
    const [mongo, eventStore, wire] = await Promise.all([
      firstOf('MongoDB', [() => named('TEST_READ_MODEL_URL'), startMongod, startMongoContainer]),
      firstOf('EventStoreDB', [() => named('TEST_EVENT_STORE_URL'), startEventstored, startEventStoreContainer]),
      startCompatibleServer(),
    ]);
    const readModels = [...mongo.found, ...wire.found];
    process.env['REAL_SERVERS'] = JSON.stringify({ readModels, eventStores: eventStore.found });
    const there = [
      'embedded event store',
      'embedded read models',
      ...[...readModels, ...eventStore.found].map(({ name }) => name),
    ];
    const missing = [mongo.missing, eventStore.missing, wire.missing].filter((text) => text !== '');
    summary = `Engines of this run: ${there.join(', ')}.${missing.length === 0 ? '' : ` Not covered: ${missing.join(', ')}.`}`;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Stops what was started, and says in one line which engines the run had. */
export const stop = async () => {
  // What was started last is stopped first: a program before its folder is removed.
  for (const end of stops.splice(0).reverse()) await end();
  if (summary !== '') process.stderr.write(`${summary}\n`);
};

/**
 * @param {string} engine
 * @param {readonly (() => Promise<RealServer | null> | RealServer | null)[]} ways
 */
const firstOf = async (engine, ways) => {
  let reason = 'no server named, none on the PATH, no container engine';
  for (const way of ways) {
    try {
      const server = await way();
      if (server !== null) return { found: [{ ...server, name: `${engine} (${server.name})` }], missing: '' };
    } catch (error) {
      reason = String(error instanceof Error ? error.message : error);
    }
  }
  return { found: [], missing: `${engine} (${reason})` };
};

/** @param {string} variable */
const named = (variable) => {
  const url = process.env[variable] ?? '';
  return url === '' ? null : { name: variable, url };
};

/** @returns {Promise<RealServer | null>} */
const startMongod = async () => {
  if (!isOnPath('mongod')) return null;
  const [folder, port] = [await temporaryFolder(), await freePort()];
  const lines = startProgram(['mongod', '--dbpath', folder, '--bind_ip', '127.0.0.1', '--port', port]);
  await firstLine(lines, /Waiting for connections/i);
  return { name: 'mongod', url: `mongodb://127.0.0.1:${port}` };
};

/** @returns {Promise<RealServer | null>} */
const startEventstored = async () => {
  if (!isOnPath('eventstored')) return null;
  const [folder, port, replicationPort] = [await temporaryFolder(), await freePort(), await freePort()];
  startProgram([
    'eventstored',
    ...['--insecure', '--node-ip=127.0.0.1', `--node-port=${port}`, `--replication-port=${replicationPort}`],
    ...[`--db=${join(folder, 'data')}`, `--log=${join(folder, 'log')}`],
  ]);
  await untilLeader(`http://127.0.0.1:${port}`);
  return { name: 'eventstored', url: `esdb://127.0.0.1:${port}?tls=false` };
};

/** @returns {Promise<RealServer | null>} */
const startMongoContainer = async () => {
  if (!(await hasContainerEngine())) return null;
  const { address } = await startContainer('mongo:7', 27017, {});
  return { name: 'container mongo:7', url: `mongodb://${address}` };
};

/** @returns {Promise<RealServer | null>} */
const startEventStoreContainer = async () => {
  if (!(await hasContainerEngine())) return null;
  const image = 'eventstore/eventstore:23.10.8-bookworm-slim';
  const { address } = await startContainer(image, 2113, { EVENTSTORE_INSECURE: 'true' });
  await untilLeader(`http://${address}`);
  return { name: `container ${image}`, url: `esdb://${address}?tls=false` };
};

const compatibleServer = fileURLToPath(new URL('../../.servers/mongo/', import.meta.url));

const startCompatibleServer = async () => {
  if (!existsSync(join(compatibleServer, 'installed'))) {
    const missing = "MongoDB's wire (run test/support/mongo/install)";
    if (process.env['CI'] === 'true') throw new Error(`CI must cover ${missing}`);
    return { found: [], missing };
  }
  const lines = startProgram([
    'java',
    // It starts in a third of a second, and never has much to hold.
    ...['-Xms32m', '-Xmx192m', '-Xshare:auto', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
    ...['-cp', `${compatibleServer}:${join(compatibleServer, 'lib', '*')}`, 'MongoServerLauncher'],
  ]);
  const url = `mongodb://127.0.0.1:${await firstLine(lines, /^\d+$/)}`;
  await warmUp(url);
  return { found: [{ name: "MongoDB's wire (mongo-java-server)", url }], missing: '' };
};

/**
 * A program of Java's loads what it needs when it first needs it: on a busy machine the first
 * answers take longer than anybody waits.
 * @param {string} url
 */
const warmUp = async (url) => {
  const { MongoClient } = await import('mongodb');
  const client = new MongoClient(`${url}/warm-up`);
  const things = client.db().collection('things');
  await things.createIndexes([{ key: { name: 1 }, unique: true }]);
  await things.bulkWrite([{ replaceOne: { filter: { name: 'one' }, replacement: { name: 'one' }, upsert: true } }]);
  await things
    .find({ name: { $gt: '' } })
    .sort({ name: 1 })
    .toArray();
  await things.findOneAndUpdate({ name: 'one' }, { $set: { name: 'two' } });
  await things.deleteMany({});
  await client.db().dropDatabase();
  await client.close();
};

/**
 * Starts a program that ends with this process, however this one ends: a shell beside it waits for
 * the end of a pipe from here.
 * @param {readonly string[]} command
 */
const startProgram = (command) => {
  const guard = [
    'exec 3<&0; "$@" </dev/null 3<&- & program=$!',
    '(cat <&3; kill "$program") >/dev/null 2>&1 & guard=$!',
    // Once the program has ended by itself, its number may be another's.
    'wait "$program"; kill "$guard"',
  ].join('\n');
  const child = spawn('sh', ['-c', guard, 'sh', ...command], { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  stops.push(() => {
    child.stdin.end();
    return ended;
  });
  return createInterface({ input: child.stdout });
};

/**
 * The first line that matches; later ones are read and dropped, so that the program never waits for
 * a reader.
 * @param {import('node:readline').Interface} lines
 * @param {RegExp} wanted
 * @returns {Promise<string>}
 */
const firstLine = (lines, wanted) =>
  new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      if (wanted.test(line)) resolve(line);
    });
    lines.once('close', () => {
      reject(new Error('the server ended instead of starting'));
    });
  });

/**
 * @param {string} image
 * @param {number} port
 * @param {Record<string, string>} environment
 */
const startContainer = async (image, port, environment) => {
  const { GenericContainer } = await import('testcontainers');
  const container = await new GenericContainer(image).withEnvironment(environment).withExposedPorts(port).start();
  stops.push(() => container.stop());
  return { address: `${container.getHost()}:${container.getMappedPort(port)}` };
};

/**
 * A node answers its health check before it takes writes; as the leader it does.
 * @param {string} address
 */
const untilLeader = async (address) => {
  for (const giveUpAt = Date.now() + 30_000; Date.now() < giveUpAt;) {
    const gossip = await fetch(`${address}/gossip`).then(
      (answer) => answer.text(),
      () => '',
    );
    if (gossip.includes('"Leader"')) return;
    await pause(100);
  }
  throw new Error('no leader within 30 s');
};

/** @param {string} program */
const isOnPath = (program) =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

/**
 * Whether a container engine answers; nothing is fetched or loaded to find out.
 * @returns {Promise<boolean>}
 */
const hasContainerEngine = () =>
  new Promise((resolve) => {
    const host = process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock';
    const { hostname, port } = new URL(host);
    const where = host.startsWith('unix://') ? { socketPath: host.slice('unix://'.length) } : { host: hostname, port };
    request({ ...where, path: '/_ping', timeout: 500 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    })
      .on('timeout', () => {
        resolve(false);
      })
      .on('error', () => {
        resolve(false);
      })
      .end();
  });

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return String(address.port);
};

const temporaryFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'doorstep-server-'));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
};
