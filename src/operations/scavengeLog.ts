import { streams } from '../events/catalogue.js';
import { scavenge } from '../events/scavenge.js';
import { optionsOf, runScript } from './script.js';

/** `npm run log:scavenge`: says what would be dropped; with `--drop` it is. */
await runScript(async ({ engine: { clock }, stores: { eventStore } }) => {
  const { drop = false } = optionsOf('scavengeLog', { drop: { type: 'boolean' } });
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
