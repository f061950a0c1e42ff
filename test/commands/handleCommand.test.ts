import { describe, expect, test } from '@jest/globals';
import { TooManyConflicts } from '../../src/commands/handleCommand.js';
import { Refused } from '../../src/commands/refusal.js';
import { EventRejected } from '../../src/events/codec.js';
import { NO_STREAM, WrongExpectedRevision } from '../../src/events/store/eventStore.js';
import { eventId } from '../../src/platform/ids.js';
import { after, unavailable, type AppendFault } from '../support/faultyEventStore.js';
import { inLog, names, newContext, startProcess, startTwo } from '../support/seatProcess.js';
import { room, noSeat, seatDecider } from '../support/seats.js';
import { createTestClock, passTimeDuring } from '../support/testClock.js';

describe('a command', () => {
  test('appends what the decider decides, and answers with it and the state that it leads to', async () => {
    const process = await startProcess();
    const context = newContext();
    const { events, state, revision } = await process.handle(seatDecider, { type: 'TakeSeats', by: 'Ada', count: 2 }, context);
    const taken = { type: 'SeatTaken', data: { by: 'Ada' } };
    expect(events).toEqual([taken, taken]);
    expect(state.takenBy).toEqual(['Ada', 'Ada']);
    expect(revision).toBe(1n);
    const stored = await process.store.readStream(room);
    expect(stored.events).toMatchObject([taken, taken]);
    expect(stored.events.map(({ id }) => id)).toEqual([0, 1].map((index) => eventId(context.commandId, room, index)));
    expect(state).toEqual(await inLog(process));
  });

  test('says who caused its events, and why', async () => {
    const process = await startProcess(createTestClock(Date.UTC(2026, 4, 1)));
    const [first, second] = [newContext(), newContext({ correlationId: 'chain', causationId: 'cause' })];
    await process.take('Ada', first);
    await process.take('Ada', second);
    const { events } = await process.store.readStream(room);
    const { actor, requestId, commandId } = first;
    expect(events.map(({ metadata }) => metadata)).toEqual([
      { at: '2026-05-01T00:00:00.000Z', actor, requestId, correlationId: commandId, causationId: commandId },
      { at: '2026-05-01T00:00:00.000Z', actor, requestId, correlationId: 'chain', causationId: 'cause' },
    ]);
  });

  test('that changes nothing appends nothing', async () => {
    const process = await startProcess();
    const rename = () => process.handle(seatDecider, { type: 'RenameRoom', name: 'Hall' }, newContext());
    await rename();
    expect(await rename()).toMatchObject({ events: [], state: { name: 'Hall' }, revision: 0n });
    expect(process.store.appends).toHaveLength(1);
  });

  test("that is refused throws the decider's refusal", async () => {
    const process = await startProcess();
    const taking = process.handle(seatDecider, { type: 'TakeSeats', by: 'Ada', of: 0 }, newContext());
    await expect(taking).rejects.toThrow(Refused);
    await expect(taking).rejects.toMatchObject({ message: noSeat.message, refusal: noSeat });
    expect(process.store.appends).toEqual([]);
  });

  test('with data that its event type does not allow writes nothing', async () => {
    const process = await startProcess();
    const naming = process.handle(seatDecider, { type: 'RenameRoom', name: 7 as unknown as string }, newContext());
    await expect(naming).rejects.toThrow(EventRejected);
    expect(process.store.appends).toEqual([]);
  });

  test('that fails does not hold up the next one', async () => {
    const process = await startProcess();
    process.store.appendFaults.push(unavailable);
    const outcomes = await Promise.allSettled([
      process.take('Ada'),
      process.handle(seatDecider, { type: 'TakeSeats', by: 'Bob', of: 0 }, newContext()),
      process.handle(seatDecider, { type: 'RenameRoom', name: 7 as unknown as string }, newContext()),
      process.take('Cyd'),
    ]);
    expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? null : (outcome.reason as Error).name))).toEqual([
      'EventStoreUnavailable',
      'Refused',
      'EventRejected',
      null,
    ]);
    expect((await inLog(process)).takenBy).toEqual(['Cyd']);
  });
});

describe('time', () => {
  test('never steps back within a stream when the clock does', async () => {
    const clock = createTestClock(Date.UTC(2026, 0, 1, 12));
    const process = await startProcess(clock);
    await process.take('Ada');
    clock.setTime(Date.UTC(2026, 0, 1, 11));
    const { state } = await process.take('Bob');
    await clock.advance(2 * 3_600_000);
    await process.take('Cyd');
    expect(state.times).toEqual(['2026-01-01T12:00:00.000Z', '2026-01-01T12:00:00.000Z']);
    expect((await inLog(process)).times).toEqual([...state.times, '2026-01-01T13:00:00.000Z']);
  });

  test('never steps back when another process with a slower clock goes on', async () => {
    const [fast, slow] = await startTwo([createTestClock(Date.UTC(2026, 0, 2)), createTestClock(Date.UTC(2026, 0, 1))]);
    await fast.take('Ada');
    expect((await slow.take('Bob')).state.times).toEqual(['2026-01-02T00:00:00.000Z', '2026-01-02T00:00:00.000Z']);
  });
});

describe('many at once', () => {
  test('in one process: each is accepted exactly once, without a conflict', async () => {
    const process = await startProcess();
    await Promise.all(names(50).map((by) => process.take(by)));
    expect((await inLog(process)).takenBy).toEqual(names(50));
    expect(process.store.appends).toHaveLength(50);
  });

  test('in two processes: each is accepted exactly once, none is lost', async () => {
    const processes = await startTwo();
    const handled = await Promise.all(
      processes.flatMap((process, index) =>
        names(25, `${index}-`).map(async (by) => ({ by, revision: (await process.take(by)).revision })),
      ),
    );
    const { takenBy } = await inLog(processes[0]);
    expect([...takenBy].sort()).toEqual([...names(25, '0-'), ...names(25, '1-')].sort());
    expect(handled.map(({ revision }) => takenBy[Number(revision)])).toEqual(handled.map(({ by }) => by));
  });

  test('in two processes with a limit: as many as there is room for, the others are refused', async () => {
    const processes = await startTwo();
    const outcomes = await Promise.allSettled(
      processes.flatMap(({ handle }) =>
        names(10).map((by) => handle(seatDecider, { type: 'TakeSeats', by, of: 7 }, newContext())),
      ),
    );
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    expect(refused).toEqual(Array.from({ length: 13 }, () => new Refused(noSeat)));
    expect((await inLog(processes[0])).takenBy).toHaveLength(7);
  });

  test('on different streams do not wait for each other', async () => {
    const { store, handle } = await startProcess();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    store.appendFaults.push(after(() => held));
    const waiting = handle(seatDecider, { type: 'TakeSeats', room: 'room-1', by: 'Ada' }, newContext());
    await handle(seatDecider, { type: 'TakeSeats', room: 'room-2', by: 'Bob' }, newContext());
    expect((await store.readStream('room-1')).head).toBe(NO_STREAM);
    release();
    await waiting;
  });
});

describe('a conflict with others', () => {
  test('is decided again on what the other one did', async () => {
    const [local, other] = await startTwo();
    await local.take('Ada');
    local.store.appendFaults.push(after(() => other.take('Bob')));
    const { state, revision } = await local.take('Cyd');
    expect(state.takenBy).toEqual(['Ada', 'Bob', 'Cyd']);
    expect(revision).toBe(2n);
    expect(local.store.appends.map(({ expected }) => expected)).toEqual([-1n, 0n, 1n]);
  });

  test('is refused when what the other one did leaves no room', async () => {
    const [local, other] = await startTwo();
    local.store.appendFaults.push(after(() => other.take('Bob')));
    const taking = local.handle(seatDecider, { type: 'TakeSeats', by: 'Ada', of: 1 }, newContext());
    await expect(taking).rejects.toEqual(new Refused(noSeat));
    expect((await inLog(local)).takenBy).toEqual(['Bob']);
  });

  describe('again and again', () => {
    const setUp = async () => {
      const clock = createTestClock();
      const process = await startProcess(clock);
      const conflict: AppendFault = () => {
        process.store.appendFaults.push(conflict);
        return Promise.reject(new WrongExpectedRevision(room, NO_STREAM, 0n));
      };
      process.store.appendFaults.push(conflict);
      return { clock, process };
    };

    test('ends after 5 s with nothing written', async () => {
      const { clock, process } = await setUp();
      const begun = clock.now();
      await expect(passTimeDuring(clock, process.take('Ada'))).rejects.toThrow(TooManyConflicts);
      expect(clock.now() - begun).toBeGreaterThanOrEqual(5_000);
      expect(clock.now() - begun).toBeLessThan(5_100);
      expect((await inLog(process)).takenBy).toEqual([]);
      // It pauses in between, and longer than at first.
      expect(process.store.appends.length).toBeGreaterThan(50);
      expect(process.store.appends.length).toBeLessThan(500);
    });

    test('ends no later because the clock is set back', async () => {
      const { clock, process } = await setUp();
      const taking = process.take('Ada');
      clock.setTime(clock.now() - 3_600_000);
      const begun = clock.now();
      await expect(passTimeDuring(clock, taking)).rejects.toThrow(TooManyConflicts);
      expect(clock.now() - begun).toBeLessThan(5_100);
    });
  });

  test('time spent waiting for others counts: who waited too long does not begin', async () => {
    const clock = createTestClock();
    const { store, take } = await startProcess(clock);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    store.appendFaults.push(after(() => held));
    const [first, second] = [take('Ada'), take('Bob')];
    await clock.advance(5_000);
    const third = take('Cyd');
    release();
    await first;
    await expect(second).rejects.toThrow(TooManyConflicts);
    expect((await third).state.takenBy).toEqual(['Ada', 'Cyd']);
  });

  test('leaves no timer behind', async () => {
    const clock = createTestClock();
    const { take } = await startProcess(clock);
    await take('Ada');
    // The store's own, which follows the log from its first read on.
    const before = clock.pending();
    await take('Bob');
    expect(clock.pending()).toBe(before);
  });
});
