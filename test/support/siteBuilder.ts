import { fileURLToPath } from 'node:url';
import { createSiteBuilder } from '../../src/integrations/hosting/site/builder.js';
import { systemClock } from '../../src/platform/clock.js';
import { createLogger } from '../../src/platform/logger.js';

/** What builds sites, in a process of its own, as `npm test` has compiled it. */
export const buildProgram = fileURLToPath(new URL('../../dist/integrations/hosting/site/buildProgram.js', import.meta.url));

/** On the system's clock: a test on virtual time waits for builds all the same. */
export const siteBuilder = createSiteBuilder({
  program: buildProgram,
  clock: systemClock,
  logger: createLogger({ level: 'silent' }),
});
