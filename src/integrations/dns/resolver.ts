import { Resolver } from 'node:dns/promises';
import type { Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import { systemErrorCode } from '../../platform/systemError.js';
import { ProviderFault } from '../fault.js';
import type { Dns } from './port.js';

const provider = 'DNS';

/** Of the first of two tries at each server; the second may take twice as long. */
const TRY_MS = 1_000;
const TRIES = 2;
/** Of a question as a whole: somebody waits for the answer. */
const DEADLINE_MS = 3_000;

/** The name does not exist, or has no such record. */
const nothing = new Set(['ENODATA', 'ENOTFOUND']);
const late = new Set(['ETIMEOUT', 'ECANCELLED']);

/**
 * Asks DNS servers, bypassing the machine's own names and caches.
 * @param servers addresses, with a port where it is not 53; empty: those of the machine
 */
export const createDnsResolver = ({
  servers,
  clock,
  logger,
}: {
  servers: readonly string[];
  clock: Clock;
  logger: Logger;
}): Dns => {
  const ask = async (name: string, question: (resolver: Resolver) => Promise<readonly string[]>): Promise<readonly string[]> => {
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    if (servers.length > 0) resolver.setServers(servers);
    const cancel = clock.schedule(DEADLINE_MS, () => {
      resolver.cancel();
    });
    try {
      return await question(resolver);
    } catch (error) {
      const code = systemErrorCode(error) ?? '';
      if (nothing.has(code)) return [];
      logger.warn({ name, code, err: error }, 'DNS could not be asked');
      const cause = late.has(code) ? Object.assign(new Error('no answer in time'), { name: 'TimeoutError' }) : error;
      const message = late.has(code) ? 'DNS did not answer in time' : 'DNS cannot be asked right now';
      throw new ProviderFault({ provider, message, transient: true, cause });
    } finally {
      cancel();
    }
  };

  return {
    texts: (name) => ask(name, async (resolver) => (await resolver.resolveTxt(name)).map((parts) => parts.join(''))),
    canonicalNames: (name) =>
      ask(name, async (resolver) => (await resolver.resolveCname(name)).map((one) => one.toLowerCase().replace(/\.$/, ''))),
    addresses: async (name) => {
      const found = await Promise.all([
        ask(name, (resolver) => resolver.resolve4(name)),
        ask(name, (resolver) => resolver.resolve6(name)),
      ]);
      return found.flat();
    },
  };
};
