import { openCore } from '../../src/compose/stores.js';
import { createLogger } from '../../src/platform/logger.js';
import { loadSettings } from '../../src/platform/settings/settings.js';
import { processOn, type TestProcess } from './process.js';

/** Works on a data folder as an operator's script does, also while a server runs on it. */
export const onFolder = async <Result>(dataDir: string, work: (engine: TestProcess) => Promise<Result>): Promise<Result> => {
  const open = await openCore(loadSettings({ DATA_DIR: dataDir }), createLogger({ level: 'silent' }));
  try {
    return await work(processOn(open));
  } finally {
    await open.close();
  }
};
