import { parentPort, workerData } from 'node:worker_threads';
import type { JsonObject } from '../../../events/envelope.js';
import { sleep, systemClock } from '../../../platform/clock.js';
import { lazily } from '../../../platform/lazily.js';
import { ReadModelDropped, ReadModelStoreUnavailable } from '../readModelStore.js';
import { createApply } from './applyDocuments.js';
import { openDatabase, type Database } from './database.js';
import { createRemoval } from './droppedVersions.js';
import { createModelKeys } from './modelKeys.js';
import { openTally } from './tally.js';
import type { WriteAnswer, WriteOrder } from './writingThread.js';

/** The program of the thread that writes read models (`writingThread.ts`), on a connection of its own. */

let database: Database | undefined;

const open = lazily(async () => {
  database ??= await openDatabase((workerData as { readonly file: string }).file, systemClock);
  const apply = createApply(database, await openTally(database), createModelKeys(database));
  return { apply, removeSome: createRemoval(database) };
});

/** The share of the time of a write for which the file is left to other processes after it. */
const restShare = 1 / 8;
let restEndsAt = 0;

const rest = async (): Promise<void> => {
  const leftMs = restEndsAt - systemClock.now();
  if (leftMs > 0) await sleep(systemClock, leftMs);
};

const write = async ({ model, ids, revisions, positions, texts, checkpoint }: WriteOrder): Promise<void> => {
  const { apply } = await open();
  const isIndexed = model.indexes.length > 0;
  const writes = ids.map((id, index) => {
    const text = texts[index] ?? null;
    const body = isIndexed && text !== null ? (JSON.parse(text) as JsonObject) : null;
    return { id, revision: revisions[index] ?? 0n, position: positions[index] ?? 0n, body, text };
  });
  await apply(model, writes, checkpoint);
};

const answer = async (order: WriteOrder | 'remove some'): Promise<WriteAnswer> => {
  try {
    await rest();
    const begunAt = systemClock.now();
    const isAllRemoved = order === 'remove some' && (await (await open()).removeSome());
    if (order !== 'remove some') await write(order);
    const endedAt = systemClock.now();
    restEndsAt = endedAt + (endedAt - begunAt) * restShare;
    return { isAllRemoved };
  } catch (fault) {
    if (fault instanceof ReadModelDropped) return { fault: 'dropped' };
    if (fault instanceof ReadModelStoreUnavailable) return { fault: 'unavailable', cause: fault.cause ?? fault };
    return { fault: 'other', cause: fault };
  }
};

const close = (): void => {
  parentPort?.close();
  database?.close();
};

/** The next order comes while one is taken, so that this thread need not wait for it. */
let lastTaken: Promise<void> = Promise.resolve();

parentPort?.on('message', (order: WriteOrder | 'remove some' | 'close') => {
  lastTaken = lastTaken.then(async () => {
    if (order === 'close') close();
    else parentPort?.postMessage(await answer(order));
  });
});
