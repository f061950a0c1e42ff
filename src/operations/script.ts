import { access } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Refused } from '../commands/refusal.js';
import { openCore, type OpenCore } from '../compose/stores.js';
import { EventStoreUnavailable } from '../events/store/eventStore.js';
import { createLogger } from '../platform/logger.js';
import { sleep } from '../platform/clock.js';
import { helpOf } from './scriptHelp.js';
import { loadSettings, readEnvironment, SettingsError, type Settings } from '../platform/settings.js';
import { ReadModelStoreUnavailable } from '../projections/store/readModelStore.js';

const keepAliveMs = 86_400_000;

/** A wrong use of a script, reported without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Runs an operator's script, or prints its help. Errors that the operator can fix are reported as a message, others
 * with a stack.
 */
export const runPlainScript = async (script: (settings: Settings) => Promise<void>): Promise<void> => {
  const help = helpOf(basename(process.argv[1] ?? '', '.js'));
  if (help !== undefined && process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
    process.stdout.write(help);
    return;
  }
  // As main.ts does: a script may create files that the service uses later.
  process.umask(0o077);
  try {
    await script(loadSettings(readEnvironment()));
  } catch (error) {
    const isUnavailable = error instanceof EventStoreUnavailable || error instanceof ReadModelStoreUnavailable;
    const isRefused = error instanceof SettingsError || error instanceof UsageError || error instanceof Refused;
    const expected = isRefused || isUnavailable;
    process.stderr.write(`${expected ? error.message : String((error as Error).stack)}\n`);
    process.exitCode = 1;
  }
};

/**
 * Runs an operator's script on the stores of the settings, also while the service is running. Only
 * the script writes to standard output; logs go to standard error.
 * @param options `createsStores`: whether it may be the first to use the data folder. Default: no,
 *   since a mistyped folder would look like an empty installation.
 */
export const runScript = (
  script: (open: OpenCore, settings: Settings) => Promise<void>,
  { createsStores = false }: { readonly createsStores?: boolean } = {},
): Promise<void> =>
  runPlainScript(async (settings) => {
    if (!createsStores) await requireStores(settings);
    const logger = createLogger({ level: settings.logLevel === 'silent' ? 'silent' : 'warn', destination: process.stderr });
    const open = await openCore(settings, logger);
    const ended = new AbortController();
    // Lists wait for other processes on timers that do not keep this process alive, so this timer
    // does.
    void sleep(open.engine.clock, keepAliveMs, ended.signal);
    try {
      await script(open, settings);
    } finally {
      ended.abort();
      await open.close();
    }
  });

/** @throws UsageError when a file of the embedded stores that the settings select is missing */
export const requireStores = async ({ dataDir, stores: { eventStoreUrl, readModelUrl } }: Settings): Promise<void> => {
  const files = [
    ...(eventStoreUrl === undefined ? ['events.db'] : []),
    ...(readModelUrl === undefined ? ['read-models.db', 'vault.db'] : []),
  ];
  for (const file of files) {
    try {
      await access(join(dataDir, file));
    } catch {
      throw new UsageError(
        `DATA_DIR: there is no ${file} in ${dataDir}. Name the folder of the installation, or start the service there first`,
      );
    }
  }
};
