import type { Clock } from '../../../platform/clock.js';
import type { Random } from '../../../platform/random.js';
import type { RecordStore } from '../readModelStore.js';
import { countsAsNumbers, type MongoConnection } from './connection.js';

/** The server acknowledges updates on a condition that it then loses. */
class ServerLosesUpdates extends Error {
  override readonly name = 'ServerLosesUpdates';

  constructor(done: number) {
    super(
      `the server loses updates: of ${String(AT_ONCE)} replacements at once that exclude each other, ${String(done)} were answered as done. ` +
        'Use MongoDB 6.0 or later (docs/servers.md)',
    );
  }
}

const ROUNDS = 32;
const AT_ONCE = 8;

/** Where the build that passed is kept, so that it is probed once and not at each start. */
const passed = { collection: 'mongodb', key: 'probedBuild' } as const;

/**
 * Finds out whether a replacement on a condition is atomic, on which every guard here rests: in each
 * of 32 rounds, of eight that expect the same state exactly one may succeed.
 * @throws ServerLosesUpdates; ReadModelStoreUnavailable
 */
export const probeServer = async (
  connection: MongoConnection,
  records: RecordStore,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<void> => {
  const build = await connection.run(() => connection.build());
  const known = await records.get(passed.collection, passed.key);
  if (known !== null && known['build'] === build.build) return;

  const _id = `probe/${Buffer.from(random.bytes(12)).toString('hex')}`;
  const documents = connection.collection<{ readonly _id: string; readonly round: number; readonly expires: number }>('records');
  // Maintenance removes it if this process dies.
  const expires = clock.now();
  await connection.run(() => documents.replaceOne({ _id }, { round: 0, expires }, { upsert: true }));
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const replace = async (): Promise<number> => {
        const replaced = await connection.run(() =>
          documents.replaceOne({ _id, round }, { round: round + 1, expires }, countsAsNumbers),
        );
        return replaced.matchedCount;
      };
      const counts = await Promise.all(Array.from({ length: AT_ONCE }, replace));
      const done = counts.reduce((sum, count) => sum + count, 0);
      if (done !== 1) throw new ServerLosesUpdates(done);
    }
  } finally {
    await connection.run(() => documents.deleteOne({ _id }));
  }
  await records.put(passed.collection, passed.key, build);
};
