import { purgedBefore } from '../../commands/deletedFiles.js';
import { documentDecider } from '../../commands/document/document.decider.js';
import { mediaDecider } from '../../commands/media/media.decider.js';
import type { Engine } from '../../engine.js';
import type { FileStore, ListedFile } from '../../integrations/files/port.js';
import { isoTime, sleep } from '../../platform/clock.js';
import { documentsDeletedBefore } from '../../projections/document/document.queries.js';
import { mediaDeletedBefore } from '../../projections/media/media.queries.js';
import { eachDocument } from '../../projections/everyDocument.js';
import type { Reader } from '../../projections/reader.js';
import { filesInUse } from '../../projections/storage/storage.queries.js';
import type { RecordStore } from '../../projections/store/readModelStore.js';
import { websiteProjection } from '../../projections/website/website.projection.js';
import { processActor } from '../contextOf.js';
import type { CronJob } from '../cron/cronWorker.js';

const actor = processActor('files');
const dayMs = 86_400_000;
/**
 * Much longer than an upload takes. After the restore of an older log there is time to notice before the
 * files that came after it are removed.
 */
const orphanMs = 7 * dayMs;
const batchSize = 200;
const collection = 'fileSweeps';
/** Longer than the removal of a batch takes: after this others take a process that sweeps for dead. */
const leaseMs = 10 * 60_000;
const lookAgainMs = 1_000;

/**
 * Purges documents, images and videos that were deleted 30 days ago, and removes files that nothing refers to, once a
 * day. Only files of this log's websites are looked at: a bucket may be shared. One process of all
 * does it; when that one fails or dies, another does.
 */
export const fileSweep = ({
  engine,
  reader,
  files,
  records,
}: {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly files: FileStore;
  readonly records: RecordStore;
}): CronJob => {
  const purgeDeleted = async (at: string): Promise<number> => {
    const contextOf = (commandId = engine.ids.commandId()) => ({ commandId, actor, requestId: commandId });
    const before = purgedBefore(at);
    const documents = await documentsDeletedBefore(reader, before);
    for (const { websiteId, id: documentId } of documents) {
      await engine.handle(documentDecider, { type: 'PurgeDocument', websiteId, documentId }, contextOf());
    }
    const media = await mediaDeletedBefore(reader, before);
    for (const { websiteId, id: mediaId } of media) {
      await engine.handle(mediaDecider, { type: 'PurgeMedia', websiteId, mediaId }, contextOf());
    }
    return documents.length + media.length;
  };

  const removeUnused = async (listed: readonly ListedFile[]): Promise<number> => {
    const inUse = await filesInUse(
      reader,
      listed.map(({ key }) => key),
    );
    const unused = listed.filter(({ key }) => !inUse.has(key));
    for (const { key } of unused) await files.remove(key);
    return unused.length;
  };

  const removeOrphans = async (before: number, signal: AbortSignal, renew: () => Promise<void>): Promise<number> => {
    let removed = 0;
    for await (const { id } of eachDocument(reader, websiteProjection, {})) {
      await renew();
      let batch: ListedFile[] = [];
      for await (const file of files.list(`${id}/`)) {
        if (signal.aborted) return removed;
        if (file.storedAt < before) batch.push(file);
        if (batch.length < batchSize) continue;
        removed += await removeUnused(batch);
        batch = [];
        await renew();
      }
      if (batch.length > 0) removed += await removeUnused(batch);
    }
    return removed;
  };

  /** Waits for another process that sweeps. Whether nobody has done it, and this one is to. */
  const takeLease = async (name: string, signal: AbortSignal): Promise<boolean> => {
    while (!(await records.insert(collection, name, {}, engine.clock.now() + leaseMs))) {
      if ((await records.get(collection, name))?.['isDone'] === true) return false;
      await sleep(engine.clock, lookAgainMs, signal);
      if (signal.aborted) return false;
    }
    return true;
  };

  return {
    name: 'fileSweep',
    schedule: '30 3 * * *',
    run: async (dueAt, signal) => {
      const name = isoTime(dueAt);
      if (!(await takeLease(name, signal))) return;
      const now = engine.clock.now();
      let renewedAt = now;
      const renew = async (): Promise<void> => {
        if (engine.clock.now() < renewedAt + leaseMs / 3) return;
        renewedAt = engine.clock.now();
        await records.put(collection, name, {}, renewedAt + leaseMs);
      };
      try {
        const purged = await purgeDeleted(isoTime(now));
        const drafts = await files.removeDrafts(now - dayMs);
        const orphans = await removeOrphans(now - orphanMs, signal, renew);
        engine.logger[purged + drafts + orphans > 0 ? 'info' : 'debug']({ purged, drafts, orphans }, 'unused files are removed');
        if (signal.aborted) await records.delete(collection, name);
        else await records.put(collection, name, { isDone: true }, dueAt + dayMs);
      } catch (error) {
        await records.delete(collection, name);
        throw error;
      }
    },
  };
};
