import { setFlagsFromString } from 'node:v8';
import { startDoorstep } from './compose.js';
import { createLogger } from './platform/logger.js';
import { loadSettings, readEnvironment, SettingsError, type Settings } from './platform/settings.js';
import { ReadModelStoreUnavailable } from './projections/store/readModelStore.js';

/**
 * V8 lets the heap grow to several times what lives in it before it collects, when the machine has memory enough. By this much instead:
 * it costs no time that could be measured (docs/performance.md), and is no limit that a process could die of.
 */
setFlagsFromString('--heap-growing-percent=70');

/** Settings, start, stop on signals. */
const main = async (): Promise<void> => {
  // A data folder that was there before, such as a mounted one, may be open to everybody on the machine: what is in it is not.
  process.umask(0o077);
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
        ...signInLines(settings, baseUrl),
        '  A token to begin with: npm run --silent token -- --role admin --subject ops@example.com',
      ]
    : [`Doorstep runs its ${[...settings.roles].join(', ')} here`];
  if (healthUrl !== undefined) greeting.push(`  Health: ${healthUrl}/healthz`);
  process.stdout.write(`${greeting.join('\n')}\n`);
};

const signInLines = ({ auth, mail }: Settings, baseUrl: string): readonly string[] => {
  if (auth.issuer !== undefined) return [`  Sign-in: by ${auth.issuer.url}`];
  return [
    `  Sign-in: by e-mail, OpenID Connect at ${baseUrl}/oidc; admins are ${auth.adminEmails.join(', ')}`,
    ...(mail.smtp === undefined ? ['  No mail leaves this machine: links and codes to sign in with are written here'] : []),
  ];
};

try {
  await main();
} catch (error) {
  // Settings and stores that are away are the operator's to mend: words are enough.
  const isPlain = error instanceof SettingsError || error instanceof ReadModelStoreUnavailable;
  process.stderr.write(`${isPlain ? error.message : String((error as Error).stack)}\n`);
  process.exit(1);
}
