import { describe, expect, test } from '@jest/globals';
import { catalogue, streams } from '../../src/events/catalogue.js';
import type { StreamNaming } from '../../src/events/defineStream.js';
import { projections } from '../../src/projections/catalogue.js';
import { defineProjection, type Projection } from '../../src/projections/projection.js';
import { recorded } from '../support/given.js';
import { seatEvents, type SeatEvent } from '../support/seats.js';

type RoomDocument = { readonly takenBy: readonly string[] };

const stream = { category: 'room', events: seatEvents };

const rooms: Projection<RoomDocument, SeatEvent> = defineProjection({
  name: 'room',
  version: 1,
  stream,
  on: {
    SeatTaken: (document, { data: { by } }) => ({ takenBy: [...(document?.takenBy ?? []), by] }),
  },
  ignores: ['RoomRenamed'],
});

describe('a defined projection', () => {
  test('handles the types that have a handler', () => {
    expect(rooms.handles).toStrictEqual(['SeatTaken']);
    expect(rooms.ignores).toStrictEqual(['RoomRenamed']);
    const taken = recorded({ type: 'SeatTaken', data: { by: 'Ada' } } as const);
    expect(rooms.evolve(null, taken)).toStrictEqual({ takenBy: ['Ada'] });
    expect(rooms.evolve({ takenBy: ['Bob'] }, taken)).toStrictEqual({ takenBy: ['Bob', 'Ada'] });
  });

  test.each(['RoomRenamed', 'RoomPainted', 'constructor'])(
    'leaves the document as it is over %s, which has no handler',
    (type) => {
      const other = recorded({ type, data: {} } as unknown as SeatEvent);
      const document = { takenBy: ['Ada'] };
      expect(rooms.evolve(document, other)).toBe(document);
      expect(rooms.evolve(null, other)).toBeNull();
    },
  );

  test('takes the document’s id from the name of the stream', () => {
    const taken = recorded({ type: 'SeatTaken', data: { by: 'Ada' } } as const, { stream: 'room-room-7' });
    expect(rooms.documentId(taken)).toBe('room-7');
    expect(rooms.stream('room-7')).toBe('room-room-7');
  });

  test('does not compile with a type that is forgotten, unknown, or both handled and ignored', () => {
    const definition = { name: 'room', version: 1, stream };
    const clear = (): null => null;
    // @ts-expect-error: RoomRenamed is forgotten
    const forgotten: Projection<RoomDocument, SeatEvent> = defineProjection({ ...definition, on: { SeatTaken: clear } });
    const unknown: Projection<RoomDocument, SeatEvent> = defineProjection({
      ...definition,
      // @ts-expect-error: the stream has no such type
      on: { SeatTaken: clear, RoomRenamed: clear, RoomPainted: clear },
    });
    const both: Projection<RoomDocument, SeatEvent> = defineProjection({
      ...definition,
      // @ts-expect-error: RoomRenamed is ignored
      on: { SeatTaken: clear, RoomRenamed: clear },
      ignores: ['RoomRenamed'],
    });
    expect([forgotten, unknown, both]).toHaveLength(3);
  });
});

// The audit has a document for each event of any stream.
test.each(
  projections.flatMap(({ stream: streamOf, ...projection }) =>
    streamOf === undefined || projection.name === 'audit' ? [] : [{ ...projection, streamOf }],
  ),
)('the $name projection folds documents from streams of one category', (projection) => {
  const types = [...projection.handles, ...projection.ignores].sort();
  const folded: readonly StreamNaming[] = streams.filter(({ events }) => types.some((type) => type in events));
  expect(folded.map(({ category }) => projection.streamOf('1').startsWith(`${category}-`))).toStrictEqual([true]);
  expect(types.every((type) => type in catalogue)).toBe(true);
});
