import { expect, test } from '@jest/globals';
import { createStreamFolds } from '../../src/events/streamFolds.js';
import { createStreamReader } from '../../src/events/streamReader.js';
import { newContext, startTwo } from '../support/seatProcess.js';
import { room, seatCodec, seatDecider } from '../support/seats.js';

test.each([
  [0n, 8, [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n]],
  [4n, 3, [4n, 5n, 6n]],
  [7n, 20, [7n, 8n, 9n]],
  [10n, 5, []],
])('a slice from %s has up to %d events, though pages end early by their bytes', async (from, max, revisions) => {
  const [{ store: eventStore }, other] = await startTwo();
  await other.handle(seatDecider, { type: 'TakeSeats', by: 'Ada', count: 10 }, newContext());
  const { slice } = createStreamReader({
    eventStore: { readStream: (name, page) => eventStore.readStream(name, { ...page, max: Math.min(page?.max ?? 3, 3) }) },
    codec: seatCodec,
    folds: createStreamFolds(eventStore, seatCodec),
  });
  expect((await slice(room, from, max)).map(({ revision }) => revision)).toEqual(revisions);
});
