import type { Logger } from '../../platform/logger.js';
import type { ReadModelStore } from '../store/readModelStore.js';
import { storeFaultLevel } from '../store/storeFault.js';

/** Begins to remove what dropped versions left behind. Nothing waits for it: nobody reads these any more. */
export const sweepDropped = ({ readModels, logger }: { readonly readModels: ReadModelStore; readonly logger: Logger }): void => {
  readModels.sweep().catch((err: unknown) => {
    logger[storeFaultLevel(err)]({ err }, 'what dropped versions of read models left behind is removed after the next start');
  });
};
