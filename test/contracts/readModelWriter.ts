/**
 * A process of its own that writes read models:
 * `readModelWriter.ts <file> <writer> <last position> [in bulk]`. Prints each position once it is
 * acknowledged.
 */
import { systemClock } from '../../src/platform/clock.js';
import { createEmbeddedReadModelStore } from '../../src/projections/store/embedded/embeddedReadModelStore.js';
import { writingProgram } from '../../src/programs.js';
import type { ReadModel } from '../../src/projections/store/readModelStore.js';

const [file = '', writer = '', last = '0', bulk] = process.argv.slice(2);
const sites: ReadModel = { name: 'site', version: '1', indexes: [{ field: 'writer' }] };

const store = await createEmbeddedReadModelStore({ file, clock: systemClock, writingProgram });
await store.prepare(sites);
for (let position = 1n; position <= BigInt(last); position += 1n) {
  const guarded = { revision: position, position };
  await store.apply(
    sites,
    [
      { id: 'shared', ...guarded, body: { writer } },
      { id: `${writer}-${String(position)}`, ...guarded, body: { writer, own: writer } },
    ],
    position,
    { inBulk: bulk !== undefined },
  );
  process.stdout.write(`${String(position)}\n`);
}
await store.close();
