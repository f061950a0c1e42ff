import { join, resolve } from 'node:path';
import type { DestinationStream } from 'pino';
import { startDoorstep } from './compose.js';
import { EventStoreUnavailable } from './events/store/eventStore.js';
import { systemClock } from './platform/clock.js';
import { createLogger } from './platform/logger.js';
import { saveMemory } from './platform/memory.js';
import { endOnSignals } from './platform/processEnd.js';
import { readEnvironment, SettingsError } from './platform/settings/environment.js';
import { loadSettings, warningsOf, type Settings } from './platform/settings/settings.js';
import { standardOutput, type StandardOutput } from './platform/standardOutput.js';
import { tokenCommand } from './programs.js';
import { ReadModelStoreUnavailable } from './projections/store/readModelStore.js';

/** Settings, start, stop on signals. */
const main = async (): Promise<void> => {
  // An existing data folder, such as a mounted one, may be readable by everybody; its files must
  // not be.
  process.umask(0o077);
  const environment = readEnvironment();
  const settings = loadSettings(environment);
  const output = standardOutput();
  const destination = await logDestination(output);
  const logger = createLogger({ level: settings.logLevel, destination });
  output.onDropped((count) => {
    logger.warn({ count }, 'log lines were dropped, because standard output was not read');
  });
  for (const warning of warningsOf(settings)) logger.warn(warning);
  const starting = startDoorstep(settings, logger, {
    droppedLogLines: () => output.droppedLines(),
    projectorThread: { environment, log: destination },
  });
  // At once: the first process of a container gets no signal that it does not listen for.
  endOnSignals({
    process,
    clock: systemClock,
    logger,
    flushed: () => output.flushed(systemClock),
    stop: async () => (await starting).stop(),
  });
  const doorstep = await starting;
  saveMemory(systemClock);

  const { baseUrl, healthUrl } = doorstep;
  const greeting = settings.roles.has('api')
    ? [
        `Doorstep is open at ${baseUrl}`,
        `  API documentation: ${baseUrl}/docs`,
        ...signInLines(settings, baseUrl),
        `  Create a token: ${dataDirPrefix(settings)}${tokenCommand()} --role admin --subject ops@example.com`,
      ]
    : [`Doorstep runs its ${[...settings.roles].join(', ')} here`];
  if (healthUrl !== undefined) greeting.push(`  Health: ${healthUrl}/healthz`);
  output.write(`${greeting.join('\n')}\n`);
};

/** Lines for people on a terminal, in colour as `NO_COLOR` and `FORCE_COLOR` say; elsewhere JSON. */
const logDestination = async (output: StandardOutput): Promise<DestinationStream> => {
  if (!process.stdout.isTTY) return output;
  const { createLogLines } = await import('./platform/logLines.js');
  const toLines = createLogLines(process.stdout.hasColors());
  return {
    write: (line) => {
      output.write(toLines(line));
    },
  };
};

/** What has to stand before a script's command so that it works on this data folder. */
const dataDirPrefix = ({ dataDir }: Settings): string => {
  if (dataDir === resolve('data')) return '';
  return `DATA_DIR=${/^[\w./-]+$/.test(dataDir) ? dataDir : `'${dataDir.replaceAll("'", `'\\''`)}'`} `;
};

/** Codes are logged as information. */
const logsCodes = ({ logLevel }: Settings): boolean => ['trace', 'debug', 'info'].includes(logLevel);

const signInLines = (settings: Settings, baseUrl: string): readonly string[] => {
  const { auth, mail, dataDir } = settings;
  if (auth.issuer !== undefined) return [`  Sign-in: by ${auth.issuer.url}`];
  return [
    `  Sign-in: by e-mail, OpenID Connect at ${baseUrl}/oidc; admins are ${auth.adminEmails.join(', ')}`,
    ...(mail.smtp === undefined
      ? [
          `  SMTP_URL is not set, so no mail is sent: sign-in links and codes are ${logsCodes(settings) ? 'written to this log' : `in ${join(dataDir, 'outbox')}, and in this log with LOG_LEVEL=info`}`,
        ]
      : []),
  ];
};

main().catch((error: unknown) => {
  // The operator fixes settings and starts stores, and needs no stack for that.
  const isExpected = [SettingsError, EventStoreUnavailable, ReadModelStoreUnavailable].some((kind) => error instanceof kind);
  process.stderr.write(`${isExpected ? (error as Error).message : String((error as Error).stack)}\n`);
  process.exit(1);
});
