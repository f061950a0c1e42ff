/**
 * The embedded event store against the most that the same file gives: hand-written transactions, as
 * durable, of the same rows with ids made alike, in the same tables.
 */
import { join } from 'node:path';
import { load, newInstallation, withEngine } from '../support/doorstep.mjs';
import { median, rounded } from '../support/figures.mjs';
import { removeFolder, temporaryFolder } from '../support/processes.mjs';
import { inTurns, medianRatio } from '../support/rounds.mjs';

const streamCount = 64;
/** Appends that wait at any time, and so the events in a transaction. */
const batch = 50;

const metadata = {
  at: '2026-01-01T00:00:00.000Z',
  actor: /** @type {const} */ ({ subject: 'bench', role: 'admin', via: 'token' }),
  requestId: '019b0000-0000-7000-8000-000000000000',
  correlationId: '019b0000-0000-7000-8000-000000000000',
  causationId: '019b0000-0000-7000-8000-000000000000',
};
const data = {
  websiteId: '01kd000000000000000000000',
  checkpointId: 'design-approved',
  status: 'in_progress',
  previousStatus: 'pending',
};

/** @param {() => Promise<void>} step - one transaction */
const perSecond = async (/** @type {number} */ milliseconds, step) => {
  const startedAt = performance.now();
  let events = 0;
  while (performance.now() - startedAt < milliseconds) {
    await step();
    events += batch;
  }
  return (events / (performance.now() - startedAt)) * 1_000;
};

/**
 * As many appends as `batch` at once, again and again.
 * @param {import('../../src/events/store/eventStore.js').EventStore} store
 * @param {() => string} newId
 */
const appending = (store, newId) => {
  // On a log that earlier runs have filled.
  const run = newId();
  const revisions = Array.from({ length: streamCount }, () => -1n);
  let next = 0;
  const append = async () => {
    const stream = next % streamCount;
    next += 1;
    const event = { id: newId(), type: 'DeliveryCheckpointStatusSet', schemaVersion: 1, data, metadata };
    ({ revision: revisions[stream] } = await store.append(`delivery-${run}-${stream}`, [event], revisions[stream] ?? -1n));
  };
  return async () => {
    await Promise.all(Array.from({ length: batch }, append));
  };
};

/**
 * The event store outside, alone: there is nothing by hand beside it to compare with.
 * @param {{ quick: boolean }} options
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const outsideAppends = async ({ quick }) => {
  const installation = newInstallation('appends');
  try {
    return await withEngine(installation, async ({ eventStore, ids }) => {
      const rates = [];
      const step = appending(eventStore, () => ids.commandId());
      for (let round = 0; round < (quick ? 1 : 8); round += 1) rates.push(await perSecond(quick ? 200 : 1_500, step));
      return [{ name: 'appends', value: median(rates), unit: 'events/s', about: `${batch} in flight` }];
    });
  } finally {
    removeFolder(installation.folder);
  }
};

/**
 * @param {{ quick: boolean }} options
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const appends = async ({ quick }) => {
  const folder = temporaryFolder('appends');
  const { createEmbeddedEventStore } = /** @type {typeof import('../../src/events/store/embedded/eventStore.js')} */ (
    await load('events/store/embedded/eventStore.js')
  );
  const { openDatabase } = /** @type {typeof import('../../src/events/store/embedded/database.js')} */ (
    await load('events/store/embedded/database.js')
  );
  const { createIds } = /** @type {typeof import('../../src/platform/ids.js')} */ (await load('platform/ids.js'));
  const { systemClock } = /** @type {typeof import('../../src/platform/clock.js')} */ (await load('platform/clock.js'));
  const { systemRandom } = /** @type {typeof import('../../src/platform/random.js')} */ (await load('platform/random.js'));

  const store = await createEmbeddedEventStore({ file: join(folder, 'store.db'), clock: systemClock });
  const ids = createIds(systemClock, systemRandom);
  const throughStore = appending(store, () => ids.commandId());

  const raw = await openDatabase(join(folder, 'raw.db'), systemClock);
  const insert = raw.prepare("INSERT INTO events VALUES (?, ?, ?, unhex(?, '-'), ?, ?, ?, ?, ?)");
  const [dataText, metadataText] = [JSON.stringify(data), JSON.stringify(metadata)];
  let position = 0;
  const byHand = () => {
    const now = Date.now();
    raw.exec('BEGIN IMMEDIATE');
    for (let index = 0; index < batch; index += 1) {
      const [stream, revision] = [position % streamCount, Math.floor(position / streamCount)];
      insert.run(position + 1, stream, revision, ids.commandId(), 1, 1, now, dataText, metadataText);
      position += 1;
    }
    raw.exec('COMMIT');
    return Promise.resolve();
  };

  try {
    const milliseconds = quick ? 200 : 1_500;
    const { first, second } = await inTurns(
      quick ? 1 : 8,
      () => perSecond(milliseconds, throughStore),
      () => perSecond(milliseconds, byHand),
    );
    return [
      {
        name: 'appends / raw SQLite',
        value: medianRatio(first, second),
        unit: '×',
        about: `${rounded(median(first))} against ${rounded(median(second))} events a second, ${batch} in a transaction`,
      },
    ];
  } finally {
    raw.close();
    await store.close();
    removeFolder(folder);
  }
};
