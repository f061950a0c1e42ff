import { describe, expect, test } from '@jest/globals';
import { MongoBulkWriteError, type BulkWriteResult, type Collection, type WriteError } from 'mongodb';
import type { MongoConnection } from '../../src/projections/store/mongodb/connection.js';
import { createGuardedWriter, type ModelDocument } from '../../src/projections/store/mongodb/modelDocuments.js';
import { ReadModelStoreUnavailable, type DocumentWrite, type ReadModel } from '../../src/projections/store/readModelStore.js';
import { createTestClock } from '../support/testClock.js';

const sites: ReadModel = { name: 'site', version: '1', indexes: [] };
const write = (id: string, position: number): DocumentWrite => ({ id, position: BigInt(position), revision: 0n, body: {} });

interface Operation {
  readonly replaceOne: {
    readonly filter: { readonly _id: string };
    readonly replacement: ModelDocument;
    readonly upsert: boolean;
  };
}

/**
 * A server that ends even an unordered command at the first refused write and names no index, as
 * FerretDB 1.24 does.
 */
const ferretServer = () => {
  const stored = new Map<string, ModelDocument>();
  const sizes: number[] = [];
  /** Another process's writes, which come after a filter was evaluated and before the insertion. */
  const between: ModelDocument[] = [];
  const documents = {
    bulkWrite: (operations: readonly Operation[]) => {
      sizes.push(operations.length);
      const raced = new Set(between.map(({ _id }) => _id));
      for (const document of between.splice(0)) stored.set(document._id, document);
      const counts = { matchedCount: 0, upsertedCount: 0 };
      for (const [index, { replaceOne }] of operations.entries()) {
        const { replacement, upsert } = replaceOne;
        const there = stored.get(replacement._id);
        const isPassed = there !== undefined && there.position < replacement.position && !raced.has(replacement._id);
        if (there !== undefined && !isPassed && upsert) {
          const refusal = {
            index,
            code: 11000,
            errmsg: 'E11000 duplicate key error collection: x.y',
            err: {},
          } as unknown as WriteError;
          const result = { ...counts, getWriteConcernError: () => undefined } as unknown as BulkWriteResult;
          throw new MongoBulkWriteError({ message: 'refused', code: 11000, writeErrors: [refusal] }, result);
        }
        if (there === undefined ? upsert : isPassed) {
          counts[there === undefined ? 'upsertedCount' : 'matchedCount'] += 1;
          stored.set(replacement._id, replacement);
        }
      }
      return Promise.resolve();
    },
    find: ({ _id }: { _id: { $in: readonly string[] } }) => ({
      toArray: () => Promise.resolve(_id.$in.map((id) => stored.get(id)).filter((document) => document !== undefined)),
    }),
  };
  return { stored, sizes, between, documents: documents as unknown as Collection<ModelDocument> };
};

const direct = { run: (work) => work() } as Pick<MongoConnection, 'run'> as MongoConnection;

describe('guarded writes', () => {
  test.each([
    ['that is older', 4n, 5n],
    ['that is newer', 6n, 6n],
  ])('a document %s, written by another process at the same moment: the newer one stays', async (_, theirs, kept) => {
    const { stored, between, documents } = ferretServer();
    between.push({ _id: 'a', revision: 0n, position: theirs });
    await createGuardedWriter(direct, createTestClock())(documents, sites, [write('a', 5), write('b', 5)]);
    expect([stored.get('a')?.position, stored.get('b')?.position]).toEqual([kept, 5n]);
  });

  test('a duplicate of a document that is not there is a fault', async () => {
    const { between, documents } = ferretServer();
    between.push({ _id: 'a', revision: 0n, position: 4n });
    const vanishing = Object.assign(Object.create(documents) as typeof documents, {
      find: () => ({ toArray: () => Promise.resolve([]) }),
    });
    await expect(createGuardedWriter(direct, createTestClock())(vanishing, sites, [write('a', 5)])).rejects.toThrow(
      /no document a/,
    );
  });

  test('writes that a server left out after a refusal are written all the same', async () => {
    const { stored, documents } = ferretServer();
    const writeGuarded = createGuardedWriter(direct, createTestClock());
    await writeGuarded(documents, sites, [write('a', 5), write('c', 5)]);
    await writeGuarded(documents, sites, [write('a', 4), write('b', 6), write('c', 5), write('d', 6)]);
    expect([...stored.values()].map(({ _id, position }) => [_id, position])).toEqual([
      ['a', 5n],
      ['c', 5n],
      ['b', 6n],
      ['d', 6n],
    ]);
  });

  test('a slow server gets smaller batches, and the writes make progress', async () => {
    const { stored, sizes, documents } = ferretServer();
    const clock = createTestClock();
    const msPerWrite = 100;
    const connection = {
      run: async (work) => {
        const result = await work();
        const tookMs = (sizes.at(-1) ?? 0) * msPerWrite;
        await clock.advance(tookMs);
        if (tookMs > 1_800) throw new ReadModelStoreUnavailable('too late');
        return result;
      },
    } as Pick<MongoConnection, 'run'> as MongoConnection;
    const writeGuarded = createGuardedWriter(connection, clock);
    let attempts = 0;
    for (let position = 1; position <= 3; position += 1) {
      const writes = Array.from({ length: 60 }, (_, index) => write(`d${String(index)}`, position));
      for (let written = false; !written; attempts += 1) {
        written = await writeGuarded(documents, sites, writes).then(
          () => true,
          () => false,
        );
        expect(attempts).toBeLessThan(10);
      }
    }
    expect([...stored.values()].every(({ position }) => position === 3n)).toBe(true);
    expect(Math.max(...sizes.slice(-10))).toBeLessThanOrEqual(18);
  });
});
