import { parseArgs } from 'node:util';
import { streams } from '../events/catalogue.js';
import { scavenge } from '../events/scavenge.js';
import { runScript, UsageError } from './script.js';
import { usageOf } from './scriptHelp.js';

const readArguments = (): boolean => {
  try {
    return parseArgs({ options: { drop: { type: 'boolean', default: false } } }).values.drop;
  } catch (error) {
    // `parseArgs` throws a TypeError for an unknown option.
    throw error instanceof TypeError ? new UsageError(`${error.message}\n${usageOf('scavengeLog')}`) : error;
  }
};

/** `npm run log:scavenge`: says what would be dropped; with `--drop` it is. */
await runScript(async ({ engine: { clock }, stores: { eventStore } }) => {
  const drop = readArguments();
  const interrupted = new AbortController();
  process.once('SIGINT', () => {
    interrupted.abort();
  });
  const found = await scavenge({ eventStore, streams, now: clock.now(), drop, signal: interrupted.signal });
  for (const { category, streams: count, events } of found) {
    process.stdout.write(`${category}: ${String(count)} streams, ${String(events)} events ${drop ? 'dropped' : 'may go'}\n`);
  }
  if (interrupted.signal.aborted) process.stdout.write('Interrupted. Run the same command again to continue.\n');
  else if (!drop) process.stdout.write('Nothing was dropped. To drop them: npm run log:scavenge -- --drop\n');
});
