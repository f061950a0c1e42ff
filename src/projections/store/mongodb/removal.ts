import type { Collection, Filter } from 'mongodb';
import { countsAsNumbers, type MongoConnection } from './connection.js';

/** Documents removed by one command, few enough to finish within the time limit. */
const chunkSize = 500;

/** Removes every document that matches, in chunks, and resolves with their number. */
export const removeInChunks = async <Stored extends { readonly _id: string }>(
  connection: MongoConnection,
  documents: Collection<Stored>,
  filter: Filter<Stored>,
): Promise<number> => {
  let removed = 0;
  for (;;) {
    const ids = await connection.run(async () => {
      const found = await documents
        .find(filter, { projection: { _id: 1 }, batchSize: chunkSize })
        .limit(chunkSize)
        .toArray();
      return found.map(({ _id }) => _id);
    });
    if (ids.length === 0) return removed;
    // With the filter again, because a document may have changed since it was found.
    const { deletedCount } = await connection.run(() =>
      documents.deleteMany({ $and: [filter, { _id: { $in: ids } }] } as Filter<Stored>, countsAsNumbers),
    );
    removed += deletedCount;
    if (ids.length < chunkSize) return removed;
  }
};
