import { setMaxListeners } from 'node:events';
import type { StoredEvent } from '../events/store/eventStore.js';
import { projections } from '../projections/catalogue.js';
import { createCatchUp } from '../projections/runner/catchUp.js';
import { rebuildProjection } from '../projections/runner/rebuild.js';
import { runScript, UsageError } from './script.js';
import { usageOf } from './scriptHelp.js';

/**
 * `npm run projections:rebuild -- <name> …`: builds a new version beside the live read model, then
 * swaps.
 */
await runScript(async ({ engine, stores }) => {
  const names = process.argv.slice(2);
  const known = projections.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (names.length === 0 || unknown.length > 0) {
    const problem = unknown.length > 0 ? `There is no projection ${unknown.join(', ')}\n` : '';
    throw new UsageError(`${problem}${usageOf('rebuildProjection')}\nProjections: ${known.join(', ')}`);
  }
  const { clock } = engine;
  const { codec, eventStore, readModels } = stores;
  const interrupted = new AbortController();
  // One for each projection.
  setMaxListeners(0, interrupted.signal);
  process.once('SIGINT', () => {
    interrupted.abort(new UsageError('Interrupted. Run the same command again to continue from here.'));
  });
  const parts = {
    eventStore,
    readModels,
    clock,
    decode: (stored: StoredEvent) => codec.decode(stored),
    personal: engine.personal,
  };
  // One for all: the log is read once, however many are rebuilt.
  const catchUp = createCatchUp(parts, { writeMs: 250 });
  const rebuild = async (name: string): Promise<void> => {
    const startedAt = clock.now();
    const { version, events, resumed } = await rebuildProjection(name, {
      ...parts,
      projections,
      random: engine.random,
      catchUp,
      signal: interrupted.signal,
      onProgress: ({ events: done, position, target }) => {
        process.stderr.write(`${name}: ${String(done)} events, position ${String(position)} of ${String(target)}\n`);
      },
    });
    const seconds = (clock.now() - startedAt) / 1_000;
    process.stdout.write(
      `${name}: version ${version} is live; ${String(events)} events in ${seconds.toFixed(1)} s${resumed ? ', continued from before' : ''}\n`,
    );
  };
  const rebuilt = await Promise.allSettled(names.map(rebuild));
  await readModels.sweep();
  const failed = rebuilt.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
});
