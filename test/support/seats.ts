import { Type } from 'typebox';
import type { Decider } from '../../src/commands/decider.js';
import type { Refusal } from '../../src/commands/refusal.js';
import { createCodec } from '../../src/events/codec.js';
import { event, type EventOf } from '../../src/events/defineStream.js';

/** A stream of its own for what is tried on any stream: people take seats until none is free. */
export const seatEvents = {
  SeatTaken: event(Type.Object({ by: Type.String() })),
  RoomRenamed: event(Type.Object({ name: Type.String() })),
};

export type SeatEvent = EventOf<typeof seatEvents>;

export const seatCodec = createCodec(seatEvents);

export interface SeatState {
  readonly takenBy: readonly string[];
  /** When each was taken. */
  readonly times: readonly string[];
  readonly name?: string;
}

/** Repeating it takes another seat: only the command's id identifies a repetition. */
export interface TakeSeats {
  readonly type: 'TakeSeats';
  readonly at: string;
  readonly room?: string;
  readonly by: string;
  /** Default: 1. */
  readonly count?: number;
  /** Seats that there are. Default: any number. */
  readonly of?: number;
}

export interface RenameRoom {
  readonly type: 'RenameRoom';
  readonly at: string;
  readonly room?: string;
  readonly name: string;
}

/** Where seats are taken when a command does not name another room. */
export const room = 'room-1';

export const noSeat: Refusal = { kind: 'conflict', code: 'no_seat', message: 'No seat is free' };

export const seatDecider: Decider<SeatState, TakeSeats | RenameRoom, SeatEvent> = {
  name: 'seats',
  stream: { category: 'room', name: ({ room: of = room }) => of },
  initialState: { takenBy: [], times: [] },
  evolve: (state, { type, data, metadata }) =>
    type === 'SeatTaken'
      ? { ...state, takenBy: [...state.takenBy, data.by], times: [...state.times, metadata.at] }
      : { ...state, name: data.name },
  decide: (command, state) => {
    if (command.type === 'RenameRoom') {
      const { name } = command;
      return state.name === name ? [] : [{ type: 'RoomRenamed', data: { name } }];
    }
    const { by, count = 1, of = Infinity } = command;
    if (state.takenBy.length + count > of) return noSeat;
    return Array.from({ length: count }, () => ({ type: 'SeatTaken', data: { by } }));
  },
};
