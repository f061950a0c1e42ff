import { openCore, type OpenCore } from '../compose.js';
import { EventStoreUnavailable } from '../events/store/eventStore.js';
import { createLogger } from '../platform/logger.js';
import { sleep } from '../platform/clock.js';
import { loadSettings, readEnvironment, SettingsError, type Settings } from '../platform/settings.js';
import { ReadModelStoreUnavailable } from '../projections/store/readModelStore.js';

const longestMs = 86_400_000;

/** What a script was asked for wrongly: said in one line, without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Runs a program for operators, which tells what went wrong in plain words where it is theirs to mend. */
export const runPlainScript = async (script: (settings: Settings) => Promise<void>): Promise<void> => {
  // As the service does: files that a script makes first are the service's own.
  process.umask(0o077);
  try {
    await script(loadSettings(readEnvironment()));
  } catch (error) {
    const isAway = error instanceof EventStoreUnavailable || error instanceof ReadModelStoreUnavailable;
    const expected = error instanceof SettingsError || error instanceof UsageError || isAway;
    process.stderr.write(`${expected ? error.message : String((error as Error).stack)}\n`);
    process.exitCode = 1;
  }
};

/**
 * Runs one of the operator's scripts on the stores that the settings name, also while the server runs on them. Only the script
 * writes to standard output; logs go to standard error.
 */
export const runScript = (script: (open: OpenCore, settings: Settings) => Promise<void>): Promise<void> =>
  runPlainScript(async (settings) => {
    const logger = createLogger({ level: settings.logLevel === 'silent' ? 'silent' : 'warn', destination: process.stderr });
    const open = await openCore(settings, logger);
    const ended = new AbortController();
    // A list waits for what another process does, and such waiting does not keep this one from ending.
    void sleep(open.engine.clock, longestMs, ended.signal);
    try {
      await script(open, settings);
    } finally {
      ended.abort();
      await open.close();
    }
  });
