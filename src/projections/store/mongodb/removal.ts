import type { Collection, Filter } from 'mongodb';
import { countsAsNumbers, type MongoConnection } from './connection.js';

/** Documents removed by one command, which is answered in time however many there are in all. */
const stretch = 500;

/** Removes every document that matches, a stretch at a time; resolves with how many there were. */
export const removeInStretches = async <Stored extends { readonly _id: string }>(
  connection: MongoConnection,
  documents: Collection<Stored>,
  filter: Filter<Stored>,
): Promise<number> => {
  let removed = 0;
  for (;;) {
    const ids = await connection.run(async () => {
      const found = await documents
        .find(filter, { projection: { _id: 1 }, batchSize: stretch })
        .limit(stretch)
        .toArray();
      return found.map(({ _id }) => _id);
    });
    if (ids.length === 0) return removed;
    // With the condition again: one may have changed since.
    const { deletedCount } = await connection.run(() =>
      documents.deleteMany({ $and: [filter, { _id: { $in: ids } }] } as Filter<Stored>, countsAsNumbers),
    );
    removed += deletedCount;
    if (ids.length < stretch) return removed;
  }
};
