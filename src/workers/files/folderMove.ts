import type { ShardedFolder } from '../../integrations/shardedFolder.js';
import type { Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { Worker } from '../worker.js';

const retryAfterMs = 60_000;

/**
 * Moves what an earlier version left in these folders to where it belongs now, in the background:
 * what is not moved yet is moved when it is asked for.
 */
export const createFolderMove = (parts: {
  folders: readonly Pick<ShardedFolder, 'moveOver'>[];
  clock: Clock;
  logger: Logger;
}): Worker => {
  const { folders, clock, logger } = parts;
  const stopping = new AbortController();
  let underWay: Promise<void> = Promise.resolve();
  let cancelRetry = (): void => undefined;

  const move = async (): Promise<void> => {
    try {
      let moved = 0;
      for (const folder of folders) moved += await folder.moveOver(stopping.signal);
      if (moved > 0) logger.info({ moved }, 'repositories and websites are in the folders where this version has them');
    } catch (error) {
      logger.warn({ err: error }, 'repositories and websites could not be moved within the data folder; trying again');
      cancelRetry = clock.schedule(retryAfterMs, start);
    }
  };
  const start = (): void => {
    if (!stopping.signal.aborted) underWay = move();
  };

  return {
    name: 'folderMove',
    start: () => {
      start();
      return Promise.resolve();
    },
    stop: async () => {
      stopping.abort();
      cancelRetry();
      await underWay;
    },
  };
};
