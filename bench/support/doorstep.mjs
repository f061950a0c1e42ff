/**
 * The service under measurement: as it is built, started as an operator would, each time on a data
 * folder of its own.
 */
import { randomBytes } from 'node:crypto';
import { openSync, closeSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { countCalls } from './callCounter.mjs';
import { messageFrom, outputOf, startNode, startProgram, stop, temporaryFolder } from './processes.mjs';

/**
 * @typedef {import('../../src/engine.js').Engine & import('../../src/compose/core.js').Stores} Engine
 * @typedef {import('./processes.mjs').Server & { stop: () => Promise<void> }} Doorstep
 */

const built = (/** @type {string} */ file) => fileURLToPath(new URL(`../../dist/${file}`, import.meta.url));

/**
 * A module of the built service; `bench/` never measures anything but what is deployed.
 * @param {string} file - below `dist/`
 * @returns {Promise<any>}
 */
export const load = (file) => import(pathToFileURL(built(file)).href);

/**
 * Stores outside the service, when it is to be measured on them.
 * @type {{ eventStore: string | undefined, readModel: string | undefined }}
 */
const outside = { eventStore: undefined, readModel: undefined };

/** @type {(() => number) | null} */
let callsToEventStore = null;

/**
 * `double` as event store: that of the tests, started here.
 * @param {Partial<typeof outside>} addresses
 */
export const measureOn = async ({ eventStore, readModel }) => {
  Object.assign(outside, { eventStore, readModel });
  if (eventStore === undefined) return;
  const url = eventStore === 'double' ? await startDouble() : eventStore;
  const counter = await countCalls(url).catch(() => null);
  outside.eventStore = counter?.url ?? url;
  callsToEventStore = counter?.calls ?? null;
};

const startDouble = async () => {
  const { url } = /** @type {{ url: string }} */ (await messageFrom(startProgram('programs/eventStoreDouble.mjs')));
  return url;
};

/** The EventStoreDB that the service is measured on; that of the tests where that is not outside. */
export const eventStoreToRead = () => outside.eventStore ?? startDouble();

/** How many calls were made to the event store; `null` on the embedded one, and where they cannot be counted. */
export const eventStoreCalls = () => callsToEventStore?.() ?? null;

/**
 * A database of its own on the server: read models belong to one installation.
 * @param {string} address
 */
const databaseOn = (address) => {
  const [, server = '', options = ''] = /^([^/]+\/\/[^/?]+)[^?]*(\?.*)?$/.exec(address) ?? [];
  return `${server}/doorstep-bench-${randomBytes(4).toString('hex')}${options}`;
};

/** Of installations that are kept: what they encrypt is read again. */
const keptKey = Buffer.alloc(32, 'bench').toString('base64');

/**
 * The settings of an installation: everything that is written goes into one folder, or to the stores
 * that are to be measured.
 * @param {string} purpose
 * @param {string} [kept] - a folder that stays; default: a temporary one
 */
export const newInstallation = (purpose, kept) => {
  const folder = kept ?? temporaryFolder(purpose);
  // glibc's heaps are as many as in the image (Dockerfile).
  const { PATH, HOME, TMPDIR, SystemRoot, MALLOC_ARENA_MAX = '2' } = process.env;
  const { eventStore, readModel } = outside;
  return {
    folder,
    environment: {
      ...{ PATH, HOME, TMPDIR, SystemRoot, MALLOC_ARENA_MAX },
      ...{ DATA_DIR: join(folder, 'data'), HOST: '127.0.0.1', LOG_LEVEL: 'info' },
      ENCRYPTION_KEY: kept === undefined ? randomBytes(32).toString('base64') : keptKey,
      // Its log holds what earlier installations wrote, whose vaults are gone.
      ...(eventStore !== undefined && { EVENT_STORE_URL: eventStore, ACCEPT_EMPTY_VAULT: 'yes' }),
      ...(readModel !== undefined && { READ_MODEL_URL: databaseOn(readModel) }),
    },
  };
};

/** @typedef {ReturnType<typeof newInstallation>} Installation */

/**
 * Works with the engine on an installation that is not running.
 * @template Result
 * @param {Installation} installation
 * @param {(engine: Engine) => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export const withEngine = async ({ environment }, work) => {
  /** @type {[typeof import('../../src/compose/stores.js'), typeof import('../../src/platform/settings/settings.js'), typeof import('../../src/platform/logger.js')]} */
  const [{ openCore }, { loadSettings }, { createLogger }] = await Promise.all([
    load('compose/stores.js'),
    load('platform/settings/settings.js'),
    load('platform/logger.js'),
  ]);
  const open = await openCore(loadSettings(environment), createLogger({ level: 'silent' }));
  try {
    return await work({ ...open.engine, ...open.stores });
  } finally {
    await open.close();
  }
};

/**
 * A token of an admin, or of the client with an address.
 * @param {Installation} installation
 * @param {string} [email]
 */
export const mintToken = ({ folder, environment }, email) => {
  const who =
    email === undefined
      ? ['--role', 'admin', '--subject', 'bench@example.com']
      : ['--role', 'client', '--subject', email, '--email', email];
  return outputOf(process.execPath, [built('operations/mintToken.js'), ...who], { cwd: folder, env: environment });
};

/**
 * Starts the service, its log going to a file, and resolves when `/healthz` answers 200.
 * @param {Installation} installation
 * @param {{ roles?: string }} [options]
 * @returns {Promise<Doorstep>}
 */
export const startDoorstep = async ({ folder, environment }, { roles } = {}) => {
  const port = await freePort();
  const logFile = join(folder, 'log');
  const log = openSync(logFile, 'a');
  const child = startNode([built('main.js')], {
    cwd: folder,
    env: { ...environment, PORT: String(port), ...(roles !== undefined && { PROCESS_ROLES: roles }) },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const url = `http://127.0.0.1:${port}`;
  if (!(await answers(`${url}/healthz`, child))) {
    throw new Error(`the service did not start:\n${readFileSync(logFile, 'utf8').slice(-2_000)}`);
  }
  return { url, process: child, stop: () => stop(child) };
};

/** A port that was free a moment ago. */
export const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
};

/**
 * Resolves with true when `url` answers 200, with false when the process ends before that.
 * @param {string} url
 * @param {import('node:child_process').ChildProcess} child
 */
export const answers = async (url, child) => {
  while (child.exitCode === null && child.signalCode === null) {
    if ((await statusOf(url)) === 200) return true;
    // Before it listens it cannot notify anybody: poll.
    await wait(5);
  }
  return false;
};

/**
 * @param {string} url
 * @returns {Promise<number | undefined>}
 */
const statusOf = (url) =>
  new Promise((resolve) => {
    get(url, { agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', () => {
      resolve(undefined);
    });
  });
