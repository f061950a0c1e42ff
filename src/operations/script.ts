import { access } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { Refused } from '../commands/refusal.js';
import { openCore, type OpenCore } from '../compose/stores.js';
import { EventStoreUnavailable } from '../events/store/eventStore.js';
import { createLogger } from '../platform/logger.js';
import { sleep } from '../platform/clock.js';
import { helpOf, usageOf, type scripts } from './scriptHelp.js';
import { readEnvironment, SettingsError } from '../platform/settings/environment.js';
import { loadSettings, type Settings } from '../platform/settings/settings.js';
import { ProjectionBehind } from '../projections/runner/versions.js';
import { ReadModelStoreUnavailable } from '../projections/store/readModelStore.js';

const keepAliveMs = 86_400_000;

/** A wrong use of a script, reported without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * The options of a script that takes nothing else: a slip must not end in what was not asked for.
 * @throws UsageError
 */
export const optionsOf = <Options extends NonNullable<ParseArgsConfig['options']>>(
  script: keyof typeof scripts,
  options: Options,
): ReturnType<typeof parseArgs<{ options: Options }>>['values'] => {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    // `parseArgs` throws a TypeError for what it does not know.
    throw error instanceof TypeError ? new UsageError(`${error.message}\n${usageOf(script)}`) : error;
  }
};

/** The one argument of a script that takes no option. @throws UsageError */
export const argumentOf = (script: keyof typeof scripts): string => {
  const [argument, ...others] = process.argv.slice(2);
  if (argument === undefined || argument.startsWith('-') || others.length > 0) throw new UsageError(usageOf(script));
  return argument;
};

/** A closed pipe, as of `| head`, drops what is printed. The work goes on: half a backup, move or rotation helps nobody. */
const outliveReaders = (): void => {
  for (const output of [process.stdout, process.stderr]) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
};

/**
 * Runs an operator's script, or prints its help. Errors that the operator can fix are reported as a message, others
 * with a stack.
 */
export const runPlainScript = async (script: (settings: Settings) => Promise<void>): Promise<void> => {
  outliveReaders();
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
    process.stderr.write(`${isRefused || isUnavailable ? error.message : messageOf(error)}\n`);
    process.exitCode = 1;
  }
};

const messageOf = (error: unknown): string =>
  error instanceof ProjectionBehind
    ? `The read model ${error.projection} is behind the log. Start the service, or a process with the role projector, then run this again`
    : String((error as Error).stack);

/**
 * Runs an operator's script on the stores of the settings, also while the service is running. Only
 * the script writes to standard output; logs go to standard error.
 * @param createsStores whether it may be the first to use the data folder. Default: no,
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
  await requireFiles(dataDir, files);
};

/** @throws UsageError when a file is not in the data folder */
export const requireFiles = async (dataDir: string, files: readonly string[]): Promise<void> => {
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
