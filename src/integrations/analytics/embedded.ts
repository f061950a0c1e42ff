import { isoTime, type Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import { embedded } from '../embeddedFiles.js';
import { ProviderFault } from '../fault.js';
import { pageViewOf, type PageView } from './pageView.js';
import type { CountPage, Day, SiteAnalytics } from './port.js';
import { openTallies, type Tallies } from './tallies.js';

export interface PageCounter extends SiteAnalytics {
  readonly count: CountPage;
  /** Writes down what was counted, and lets go of the file. */
  close(): void;
}

const WRITE_AFTER_MS = 1_000;
/** Views that wait to be written; what comes beyond them is not counted. */
const MOST_WAITING = 20_000;
/** Views written in one go, in which nothing else happens. */
const BATCH = 100;
const dayMs = 86_400_000;
/** After midnight, when the last views of the day are written. */
const FORGET_AFTER_MS = 60_000;

/**
 * Counts the visitors of the sites that are served here, in one file, without cookies and without keeping anything of a person: a
 * visitor is a hash of address and browser, salted with what is thrown away with the day (UTC). What is counted is written every
 * second; a crash costs that second. The file is opened, and made, with the first use.
 */
export const createPageCounter = (parts: { file: string; clock: Clock; random: Random; logger: Logger }): PageCounter => {
  const { clock, random, logger } = parts;
  let opened: Tallies | null = null;
  let waiting: (PageView & { readonly day: Day })[] = [];
  let lost = 0;
  let isClosed = false;
  let cancelWrite: (() => void) | null = null;
  let cancelForget: () => void = () => undefined;

  const today = (): Day => isoTime(clock.now()).slice(0, 10);

  const tallies = (): Tallies => {
    if (opened === null) {
      opened = openTallies(parts.file, random);
      forget(opened);
    }
    return opened;
  };

  const forget = (from: Tallies): void => {
    if (isClosed) return;
    const again = (): void => {
      forget(from);
    };
    try {
      if (from.forget(today())) setImmediate(again);
      else cancelForget = clock.schedule(dayMs - (clock.now() % dayMs) + FORGET_AFTER_MS, again);
    } catch (error) {
      logger.warn({ err: error }, 'what told visitors apart could not be thrown away; trying again');
      cancelForget = clock.schedule(FORGET_AFTER_MS, again);
    }
  };

  const writeBatch = (): void => {
    tallies().add(waiting.slice(0, BATCH));
    waiting = waiting.slice(BATCH);
  };

  const writeAll = (): void => {
    while (waiting.length > 0) writeBatch();
  };

  const write = (): void => {
    cancelWrite = null;
    if (isClosed) return;
    try {
      writeBatch();
    } catch (error) {
      logger.warn({ err: error }, 'page views could not be written down; trying again');
      writeSoon();
      return;
    }
    if (lost > 0) logger.warn({ lost }, 'page views were not counted: too many came at once');
    lost = 0;
    if (waiting.length > 0) setImmediate(write);
  };

  const writeSoon = (): void => {
    cancelWrite ??= clock.schedule(WRITE_AFTER_MS, write);
  };

  return {
    provider: embedded,
    count: (request) => {
      const view = pageViewOf(request);
      if (view === null) return;
      if (waiting.length >= MOST_WAITING) {
        lost += 1;
        return;
      }
      waiting.push({ ...view, day: today() });
      writeSoon();
    },
    report: ({ site, from, to }) =>
      new Promise((resolve, reject) => {
        try {
          writeAll();
          resolve(tallies().report(site.project, from, to));
        } catch (error) {
          const message = 'The page views cannot be read';
          reject(new ProviderFault({ provider: 'Site analytics', message, transient: true, cause: error }));
        }
      }),
    close: () => {
      isClosed = true;
      cancelWrite?.();
      cancelForget();
      try {
        writeAll();
      } catch (error) {
        logger.warn({ err: error, views: waiting.length }, 'the last page views could not be written down');
      }
      opened?.close();
    },
  };
};
