import { openEngine } from '../../src/compose.js';
import type { Engine } from '../../src/engine.js';
import { createLogger } from '../../src/platform/logger.js';
import { loadSettings } from '../../src/platform/settings.js';

/** Works on a data folder as an operator's script does, also while a server runs on it. */
export const onFolder = async <Result>(dataDir: string, work: (engine: Engine) => Promise<Result>): Promise<Result> => {
  const open = await openEngine(loadSettings({ DATA_DIR: dataDir }), createLogger({ level: 'silent' }));
  try {
    return await work(open.engine);
  } finally {
    await open.close();
  }
};
