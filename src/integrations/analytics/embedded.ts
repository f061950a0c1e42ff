import { isoTime, type Clock } from '../../platform/clock.js';
import { nextTurn } from '../../platform/eventLoop.js';
import type { Logger } from '../../platform/logger.js';
import type { TrustsProxy } from '../../platform/publicAddress.js';
import type { Random } from '../../platform/random.js';
import { embedded } from '../embeddedFiles.js';
import { ProviderFault } from '../fault.js';
import { pageViewOf, type PageView } from './pageView.js';
import type { CountPage, Day, SiteAnalytics } from './port.js';
import { openTallies, type Tallies } from './tallies.js';

export interface PageCounter extends SiteAnalytics {
  readonly count: CountPage;
  /** Deletes what was counted of a project. May throw ProviderFault (`integrations/fault.ts`). */
  forget(project: string): Promise<void>;
  /** Writes the pending views and closes the file. */
  close(): void;
}

const WRITE_DELAY_MS = 1_000;
/** Further views are not counted. */
const MAX_PENDING_VIEWS = 20_000;
/** Views written in one transaction, which blocks the event loop. */
const BATCH_SIZE = 100;
const dayMs = 86_400_000;
/** After midnight (UTC), when the last views of the day have been written. */
const DELETE_DELAY_MS = 60_000;

/**
 * Counts the visitors of the sites served here, in one file, without cookies or personal data: a
 * visitor is a hash of address and browser with a salt that is deleted after the day (UTC). Views
 * are written every second; a crash loses that second. The file is opened or created on first use.
 */
export const createPageCounter = (parts: {
  file: string;
  clock: Clock;
  random: Random;
  logger: Logger;
  trustsProxy?: TrustsProxy;
}): PageCounter => {
  const { clock, random, logger } = parts;
  let opened: Tallies | null = null;
  let pending: (PageView & { readonly day: Day })[] = [];
  let dropped = 0;
  let isClosed = false;
  let cancelWrite: (() => void) | null = null;
  let cancelDelete: () => void = () => undefined;

  const today = (): Day => isoTime(clock.now()).slice(0, 10);

  const tallies = (): Tallies => {
    if (opened === null) {
      opened = openTallies(parts.file, random);
      deleteExpired(opened);
    }
    return opened;
  };

  const deleteExpired = (from: Tallies): void => {
    if (isClosed) return;
    const again = (): void => {
      deleteExpired(from);
    };
    try {
      if (from.deleteExpired(today())) setImmediate(again);
      else cancelDelete = clock.schedule(dayMs - (clock.now() % dayMs) + DELETE_DELAY_MS, again);
    } catch (error) {
      logger.warn({ err: error }, 'salts and hashes of past days could not be deleted; trying again');
      cancelDelete = clock.schedule(DELETE_DELAY_MS, again);
    }
  };

  const writeBatch = (): void => {
    tallies().add(pending.slice(0, BATCH_SIZE));
    pending = pending.slice(BATCH_SIZE);
  };

  /** Writes what is pending now. Others are served between two batches. */
  const writePending = async (): Promise<void> => {
    for (let left = pending.length; left > 0 && pending.length > 0 && !isClosed; left -= BATCH_SIZE) {
      writeBatch();
      await nextTurn();
    }
  };

  const warnOfWrite = (error: unknown): void => {
    logger.warn({ err: error, file: parts.file }, 'page views could not be written; trying again');
  };

  const write = (): void => {
    cancelWrite = null;
    if (isClosed) return;
    try {
      writeBatch();
    } catch (error) {
      warnOfWrite(error);
      scheduleWrite();
      return;
    }
    if (dropped > 0) logger.warn({ dropped }, 'page views were not counted: too many came at once');
    dropped = 0;
    if (pending.length > 0) setImmediate(write);
  };

  const scheduleWrite = (): void => {
    cancelWrite ??= clock.schedule(WRITE_DELAY_MS, write);
  };

  const fault = (message: string, cause: unknown): ProviderFault =>
    new ProviderFault({ provider: 'Site analytics', message, transient: true, cause });

  return {
    provider: embedded,
    count: (request) => {
      const view = pageViewOf(request, parts.trustsProxy);
      if (view === null) return;
      if (pending.length >= MAX_PENDING_VIEWS) {
        dropped += 1;
        return;
      }
      pending.push({ ...view, day: today() });
      scheduleWrite();
    },
    report: async ({ site, from, to }) => {
      try {
        const written = tallies();
        // When another process writes, the pending views are in a later report.
        await writePending().catch(warnOfWrite);
        return written.report(site.project, from, to);
      } catch (error) {
        throw fault('The page views (analytics.db) cannot be read', error);
      }
    },
    forget: async (project) => {
      pending = pending.filter((view) => view.project !== project);
      try {
        // Others are served between two batches.
        while (tallies().forget(project)) await nextTurn();
      } catch (error) {
        throw fault('The page views (analytics.db) cannot be deleted', error);
      }
    },
    close: () => {
      isClosed = true;
      cancelWrite?.();
      cancelDelete();
      try {
        while (pending.length > 0) writeBatch();
      } catch (error) {
        logger.warn(
          { err: error, file: parts.file, views: pending.length },
          'the last page views could not be written and are lost',
        );
      }
      opened?.close();
    },
  };
};
