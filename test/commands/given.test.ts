import { expect, test } from '@jest/globals';
import { expectRepeatable } from '../support/given.js';
import { noSeat, seatDecider, type SeatEvent } from '../support/seats.js';

const named: SeatEvent = { type: 'RoomRenamed', data: { name: 'Blue' } };
const rename = { type: 'RenameRoom', name: 'Blue' } as const;

test('expectRepeatable fails for a command that acts again, is refused or does nothing', () => {
  expectRepeatable(seatDecider, [], rename);
  expect(() => {
    expectRepeatable(seatDecider, [], { type: 'TakeSeats', by: 'Ada' });
  }).toThrow();
  expect(() => {
    expectRepeatable(seatDecider, [], { type: 'TakeSeats', by: 'Ada', of: 0 });
  }).toThrow(noSeat.message);
  expect(() => {
    expectRepeatable(seatDecider, [named], rename);
  }).toThrow('changes nothing');
});
