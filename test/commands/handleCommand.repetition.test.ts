import { describe, expect, test } from '@jest/globals';
import { Refused, refusals, type Refusal } from '../../src/commands/refusal.js';
import { EventStoreClosed, EventStoreUnavailable, NO_STREAM, OutcomeUnknown } from '../../src/events/store/eventStore.js';
import { after, lostAnswer, lostRequest, unavailable, type AppendFault } from '../support/faultyEventStore.js';
import { inLog, names, newContext, startProcess, startTwo, type SeatProcess } from '../support/seatProcess.js';
import { room, seatDecider } from '../support/seats.js';
import { createTestClock, passTimeDuring } from '../support/testClock.js';

describe('an expected revision', () => {
  const takeAt = ({ handle }: SeatProcess, expectedRevision: bigint, context = newContext()) =>
    handle(seatDecider, { type: 'TakeSeats', by: 'Ada' }, context, { expectedRevision });

  test('that is the present one lets the command through', async () => {
    const process = await startProcess();
    expect((await takeAt(process, NO_STREAM)).revision).toBe(0n);
    expect((await takeAt(process, 0n)).revision).toBe(1n);
  });

  test.each([
    ['passed', NO_STREAM],
    ['not there yet', 5n],
  ])('that is %s is refused as stale', async (_, expected) => {
    const process = await startProcess();
    await process.take('Bob');
    await expect(takeAt(process, expected)).rejects.toEqual(new Refused(refusals.stale()));
    expect((await inLog(process)).takenBy).toEqual(['Bob']);
  });

  test('that somebody passes in the meantime is refused as stale', async () => {
    const [local, other] = await startTwo();
    await local.take('Bob');
    local.store.appendFaults.push(after(() => other.take('Cyd')));
    await expect(takeAt(local, 0n)).rejects.toEqual(new Refused(refusals.stale()));
    expect((await inLog(local)).takenBy).toEqual(['Bob', 'Cyd']);
  });

  test('that the lost answer itself has passed is not stale', async () => {
    const process = await startProcess();
    process.store.appendFaults.push(lostAnswer);
    expect(await takeAt(process, NO_STREAM)).toMatchObject({ revision: 0n, state: { takenBy: ['Ada'] } });
  });

  test('that the same command has passed before is not stale, also after others', async () => {
    const [local, other] = await startTwo();
    const context = newContext();
    await takeAt(local, NO_STREAM, context);
    await other.take('Bob');
    expect(await takeAt(other, NO_STREAM, context)).toMatchObject({
      events: [{ type: 'SeatTaken', data: { by: 'Ada' } }],
      // As the command left it.
      state: { takenBy: ['Ada'] },
      revision: 0n,
    });
    expect((await inLog(local)).takenBy).toEqual(['Ada', 'Bob']);
  });

  test('of any kind is that of a stream that is there', async () => {
    const process = await startProcess();
    const taking = (context = newContext()) =>
      process.handle(seatDecider, { type: 'TakeSeats', by: 'Ada' }, context, { mustExist: true });
    await expect(taking()).rejects.toEqual(new Refused(refusals.stale()));
    await process.take('Bob');
    expect((await taking()).revision).toBe(1n);
  });

  test('is of no matter where there is nothing to decide on', async () => {
    const process = await startProcess();
    await process.take('Bob');
    const noRoom: Refusal = { kind: 'notFound', code: 'no_room', message: 'There is no such room' };
    const refusing = { ...seatDecider, decide: () => noRoom };
    const taking = process.handle(refusing, { type: 'TakeSeats', by: 'Ada' }, newContext(), { expectedRevision: 5n });
    await expect(taking).rejects.toEqual(new Refused(noRoom));
    // As any other refusal, what is too late may be refused by what came in between.
    const full = process.handle(seatDecider, { type: 'TakeSeats', by: 'Ada', of: 1 }, newContext(), { expectedRevision: 5n });
    await expect(full).rejects.toEqual(new Refused(refusals.stale()));
  });

  test('is of no matter where nothing is left to remove', async () => {
    const process = await startProcess();
    const ifNothing: Refusal = { kind: 'notFound', code: 'no_room', message: 'There is no such room' };
    const remove = (expectedRevision?: bigint, context = newContext()) =>
      process.handle(seatDecider, { type: 'RenameRoom', name: 'gone' }, context, {
        ifNothing,
        ...(expectedRevision !== undefined && { expectedRevision }),
      });
    const first = newContext();
    expect(await remove(NO_STREAM, first)).toMatchObject({ revision: 0n });
    for (const expected of [undefined, NO_STREAM, 0n]) {
      await expect(remove(expected)).rejects.toEqual(new Refused(ifNothing));
    }
    // The same command has removed it.
    expect(await remove(NO_STREAM, { ...first, isRepetition: true })).toMatchObject({ revision: 0n });
    expect(await remove(undefined, { ...first, isRepetition: true })).toMatchObject({ revision: 0n });
  });
});

describe('an outcome that is unknown', () => {
  test('when the append was written: one effect, and the command succeeds', async () => {
    const process = await startProcess();
    process.store.appendFaults.push(lostAnswer);
    expect(await process.take('Ada')).toMatchObject({
      events: [{ data: { by: 'Ada' } }],
      state: { takenBy: ['Ada'] },
      revision: 0n,
    });
    expect((await inLog(process)).takenBy).toEqual(['Ada']);
  });

  test('when the append was not written: it is written once', async () => {
    const process = await startProcess();
    process.store.appendFaults.push(lostRequest, lostRequest);
    expect((await process.take('Ada')).state.takenBy).toEqual(['Ada']);
    expect((await inLog(process)).takenBy).toEqual(['Ada']);
    expect(process.store.appends).toHaveLength(3);
    expect(new Set(process.store.appends.map(({ ids: [id] }) => id)).size).toBe(1);
  });

  test('when it was written and others went on: one effect', async () => {
    const [local, other] = await startTwo();
    local.store.appendFaults.push(async (append, of) => {
      await append();
      await other.take('Bob');
      return lostRequest(append, of);
    });
    expect((await local.take('Ada')).revision).toBe(0n);
    expect((await inLog(local)).takenBy).toEqual(['Ada', 'Bob']);
    expect((await local.take('Cyd')).state.takenBy).toEqual(['Ada', 'Bob', 'Cyd']);
  });

  test('when it was not written and others went on: it is decided again, and written once', async () => {
    const [local, other] = await startTwo();
    local.store.appendFaults.push(async (append, of) => {
      await other.take('Bob');
      return lostRequest(append, of);
    });
    expect((await local.take('Ada')).state.takenBy).toEqual(['Bob', 'Ada']);
    expect((await inLog(local)).takenBy).toEqual(['Bob', 'Ada']);
  });

  test('when the store goes down after it: it is found out once the store is back', async () => {
    const process = await startProcess();
    process.store.appendFaults.push(lostAnswer, unavailable, unavailable);
    expect((await process.take('Ada')).state.takenBy).toEqual(['Ada']);
    expect((await inLog(process)).takenBy).toEqual(['Ada']);
  });

  test('for 5 s stays unknown, also when the store was down in the end', async () => {
    const clock = createTestClock();
    const process = await startProcess(clock);
    const down: AppendFault = (append, of) => {
      process.store.appendFaults.push(down);
      return unavailable(append, of);
    };
    process.store.appendFaults.push(lostAnswer, down);
    const context = newContext();
    await expect(passTimeDuring(clock, process.take('Ada', context))).rejects.toThrow(OutcomeUnknown);
    process.store.appendFaults.length = 0;
    // The caller repeats the command, and learns that it was written.
    expect(await process.take('Ada', context)).toMatchObject({ events: [{ data: { by: 'Ada' } }], revision: 0n });
    expect((await inLog(process)).takenBy).toEqual(['Ada']);
  });

  test('when the service stops meanwhile: it stays unknown, and nobody waits', async () => {
    const process = await startProcess();
    process.store.appendFaults.push(lostAnswer, () => Promise.reject(new EventStoreClosed('stopping')));
    await expect(process.take('Ada')).rejects.toThrow(OutcomeUnknown);
    expect(process.store.appends).toHaveLength(2);
  });
});

describe('a store that is down', () => {
  test('for the append: passed on at once, nothing written, and the next command goes on', async () => {
    const process = await startProcess();
    process.store.appendFaults.push(unavailable);
    await expect(process.take('Ada')).rejects.toThrow(EventStoreUnavailable);
    expect(process.store.appends).toHaveLength(1);
    expect((await process.take('Bob')).state.takenBy).toEqual(['Bob']);
  });

  test('for the read: passed on at once, nothing decided', async () => {
    const process = await startProcess();
    process.store.readFault = () => Promise.reject(new EventStoreUnavailable('the store is down'));
    await expect(process.take('Ada')).rejects.toThrow(EventStoreUnavailable);
    process.store.readFault = null;
    expect((await process.take('Bob')).state.takenBy).toEqual(['Bob']);
  });
});

describe('the same command id', () => {
  test('twice, one after the other: one effect, and the same answer, whatever others did in between', async () => {
    const [first, second] = await startTwo();
    const context = newContext();
    const events = [{ type: 'SeatTaken', data: { by: 'Ada' } }];
    expect(await first.take('Ada', context)).toMatchObject({ events, revision: 0n });
    expect(await first.take('Ada', context)).toMatchObject({ events, state: { takenBy: ['Ada'] } });
    await first.take('Bob');
    for (const process of [first, second]) {
      expect(await process.take('Ada', context)).toMatchObject({ events, state: { takenBy: ['Ada'] }, revision: 0n });
    }
    expect((await inLog(first)).takenBy).toEqual(['Ada', 'Bob']);
  });

  test.each([
    ['more', 3],
    ['fewer', 1],
  ])('with a decision for %s events the second time: what was written the first time', async (_, count) => {
    const { store, handle } = await startProcess();
    const context = newContext();
    const take = (number: number) => handle(seatDecider, { type: 'TakeSeats', by: 'Ada', count: number }, context);
    await take(2);
    expect((await take(count)).events).toHaveLength(2);
    expect((await store.readStream(room)).head).toBe(1n);
  });

  test('far back in a long stream is found', async () => {
    const { store, handle, take } = await startProcess();
    const context = newContext();
    await take('Ada', context);
    await handle(seatDecider, { type: 'TakeSeats', by: 'Bob', count: 1_200 }, newContext());
    expect((await take('Ada', context)).events).toMatchObject([{ data: { by: 'Ada' } }]);
    expect((await store.readStream(room)).head).toBe(1_200n);
  });

  test('in two processes at once: one effect', async () => {
    const processes = await startTwo();
    const contexts = names(20).map(() => newContext());
    const handled = await Promise.all(
      contexts.flatMap((context, index) => processes.map((process) => process.take(`${index}`, context))),
    );
    expect([...(await inLog(processes[0])).takenBy].sort()).toEqual(names(20).sort());
    expect(handled.every(({ events }) => events.length === 1)).toBe(true);
  });

  test('in two processes at once, whose clocks differ: both go on with what stands in the log', async () => {
    const [first, second] = await startTwo([createTestClock(Date.UTC(2026, 0, 1)), createTestClock(Date.UTC(2027, 0, 1))]);
    const context = newContext();
    await Promise.all([first.take('Ada', context), second.take('Ada', context)]);
    const log = await inLog(first);
    for (const process of [first, second]) {
      const { state } = await process.handle(seatDecider, { type: 'RenameRoom', name: 'Hall' }, newContext());
      expect(state).toMatchObject(log);
    }
  });
});
