import { startDoorstep } from './compose.js';
import { createLogger } from './platform/logger.js';
import { loadSettings, readEnvironment, SettingsError } from './platform/settings.js';

/** Settings, start, stop on signals. */
const main = async (): Promise<void> => {
  const settings = loadSettings(readEnvironment());
  const logger = createLogger({ level: settings.logLevel });
  const doorstep = await startDoorstep(settings, logger);

  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'stopping');
    doorstep.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'the service did not stop cleanly');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);

  const { baseUrl, healthUrl } = doorstep;
  const greeting = settings.roles.has('api')
    ? [
        `Doorstep is open at ${baseUrl}`,
        `  API documentation: ${baseUrl}/docs`,
        '  A token to begin with: npm run --silent token -- --role admin --subject ops@example.com',
      ]
    : [`Doorstep runs its ${[...settings.roles].join(', ')} here`];
  if (healthUrl !== undefined) greeting.push(`  Health: ${healthUrl}/healthz`);
  process.stdout.write(`${greeting.join('\n')}\n`);
};

try {
  await main();
} catch (error) {
  // Settings are the operator's to mend: their words are enough.
  process.stderr.write(`${error instanceof SettingsError ? error.message : String((error as Error).stack)}\n`);
  process.exit(1);
}
