import { expect, test } from '@jest/globals';
import {
  EventStoreClosed,
  EventStoreFull,
  EventStoreUnavailable,
  NO_STREAM,
  OutcomeUnknown,
  WrongExpectedRevision,
  type EventStore,
} from '../../src/events/store/eventStore.js';
import { sleep, systemClock } from '../../src/platform/clock.js';
import { createListeningClock } from '../../src/platform/listeningClock.js';
import {
  asWritten,
  follow,
  freshCategory,
  freshStream,
  idsOf,
  newEvent,
  newEvents,
  readCategory,
  startFollowing,
} from './eventStoreEvents.js';
import { EVENTS_PER_APPEND, type CannotShow, type EventStoreHarness, type EventStoreUnderTest } from './eventStoreHarness.js';

/** Cases 14, 26 to 30 and 32: several processes, and what goes wrong. */
export const faultCases = (under: () => EventStoreUnderTest, harness: EventStoreHarness): void => {
  const { faults } = harness;
  const store = (): EventStore => under().store;

  /**
   * The test with its fault, or a skipped one whose name says why this adapter cannot produce it.
   */
  const withFault = <Fault extends (...parameters: never[]) => unknown>(
    name: string,
    fault: CannotShow | Fault,
    run: (fault: Fault) => Promise<void>,
  ): void => {
    if (typeof fault === 'function') test(name, () => run(fault));
    else test.skip(`${name} (cannot be shown: ${fault.because})`, () => undefined);
  };

  test('14 parallel appends at one expectation: exactly one wins', async () => {
    for (const expected of [NO_STREAM, 0n, 'any'] as const) {
      const stream = freshStream();
      if (expected === 0n) await store().append(stream, newEvents(1), NO_STREAM);
      const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => store().append(stream, newEvents(2), expected)));
      const lost = outcomes.filter(({ status }) => status === 'rejected');
      expect(lost).toHaveLength(expected === 'any' ? 0 : 19);
      for (const outcome of lost) expect(outcome).toMatchObject({ reason: expect.any(WrongExpectedRevision) });
      expect((await store().readStream(stream)).head).toBe(expected === 'any' ? 39n : expected + 2n);
    }
  });

  withFault('14 likewise across processes', faults.process, async (process) => {
    const stream = freshStream();
    await store().append(stream, newEvents(1), NO_STREAM);
    const others = await Promise.all([1, 2].map(() => process(under(), { kind: 'race', stream, count: 5 })));
    for (const other of others) other.go();
    const here = await Promise.allSettled(Array.from({ length: 5 }, () => store().append(stream, newEvents(1), 0n)));
    const won = await Promise.all(others.map(({ answer }) => answer as Promise<{ won: number }>));
    const winners = here.filter(({ status }) => status === 'fulfilled').length + won.reduce((sum, other) => sum + other.won, 0);
    expect(winners).toBe(1);
    expect((await store().readStream(stream)).head).toBe(1n);
  });

  withFault(
    '26 a lost answer: outcome unknown; a read settles it, and repeating has one effect',
    faults.loseAnswers,
    async (loseAnswers) => {
      const stream = freshStream();
      const events = newEvents(2);
      const answerAgain = await loseAnswers(under());
      await expect(store().append(stream, events, NO_STREAM)).rejects.toThrow(OutcomeUnknown);
      await answerAgain();
      const { events: found } = await store().readStream(stream);
      expect([0, 2]).toContain(found.length);
      expect(await store().append(stream, events, NO_STREAM)).toMatchObject({ revision: 1n });
      expect((await store().readStream(stream)).events.map(asWritten)).toEqual(events);
      expect(await store().append(stream, newEvents(1), 1n)).toMatchObject({ revision: 2n });
    },
  );

  withFault('27 down: unavailable within 2 s with nothing written; it recovers by itself', faults.takeDown, async (takeDown) => {
    const stream = freshStream();
    const after = await store().lastPosition();
    const following = follow(store(), { after, filter: { streamPrefixes: [stream] } }, ({ events }) => events.length > 0);
    const bringUp = await takeDown(under());
    const inTime = new AbortController();
    // Counts, as the adapter does, only time in which this process listened: a busy machine may stop
    // it for longer.
    const tooLate = sleep(createListeningClock(systemClock), 2_000, inTime.signal).then(() => 'nothing within 2 s');
    const outcomes = await Promise.race([
      Promise.allSettled([
        store().append(stream, newEvents(1), NO_STREAM),
        store().append(`${stream}-other`, newEvents(1), 'any'),
      ]),
      tooLate,
    ]);
    inTime.abort();
    await bringUp();
    expect(outcomes).toMatchObject([1, 2].map(() => ({ reason: expect.any(EventStoreUnavailable) })));
    const event = newEvent();
    await eventually(() => store().append(stream, [event], NO_STREAM));
    expect((await store().readStream(stream)).events.map(asWritten)).toEqual([event]);
    expect(idsOf((await following).events)).toEqual([event.id]);
  });

  withFault(
    '28 killed in the middle of appends: what was acknowledged is there, the rest whole or absent',
    faults.crash,
    async (crash) => {
      for (let round = 0; round < 2; round += 1) {
        const category = freshCategory();
        const writer = await crash(under(), category);
        await writer.acknowledged(100 + round * 57);
        const acknowledged = await writer.kill();
        const reopened = await under().reopen();
        const events = await readCategory(reopened, category);
        const firsts = new Set(events.filter(({ data }) => data['index'] === 0).map(({ id }) => id));
        expect(acknowledged.filter((id) => !firsts.has(id))).toEqual([]);
        expect(events).toHaveLength(firsts.size * EVENTS_PER_APPEND);
        for (const stream of new Set(events.map((event) => event.stream))) {
          const inStream = events.filter((event) => event.stream === stream);
          expect(inStream.map(({ revision, data }) => [Number(revision), data['index']])).toEqual(
            inStream.map((_, index) => [index, index % EVENTS_PER_APPEND]),
          );
          expect(await reopened.append(stream, newEvents(1), BigInt(inStream.length - 1))).toMatchObject({
            revision: BigInt(inStream.length),
          });
        }
        await reopened.close();
      }
    },
  );

  test('29 closing waits for appends in flight and ends subscriptions; later calls are refused', async () => {
    const own = await harness.create();
    const stream = freshStream();
    const after = await own.store.lastPosition();
    const received: string[] = [];
    const following = (async () => {
      for await (const { events } of own.store.subscribe({
        after,
        filter: { streamPrefixes: [stream] },
        signal: new AbortController().signal,
      })) {
        received.push(...idsOf(events));
      }
      return 'ended';
    })();
    const idle = startFollowing(own.store, { after, filter: { types: ['Never'] } });
    const waiting = idle.next();
    await own.store.append(stream, newEvents(1), 'any');
    const appends = Array.from({ length: 20 }, () => own.store.append(stream, newEvents(2), 'any'));
    const closing = own.store.close();
    await expect(own.store.append(stream, newEvents(1), 'any')).rejects.toThrow(EventStoreClosed);
    await closing;
    expect((await Promise.all(appends)).map(({ revision }) => revision).sort()).toHaveLength(20);
    expect(await following).toBe('ended');
    while ((await waiting).done !== true && (await idle.next()).done !== true);
    await own.store.close();

    await expect(own.store.append(stream, newEvents(1), 'any')).rejects.toThrow(EventStoreClosed);
    await expect(own.store.readStream(stream)).rejects.toThrow(EventStoreClosed);
    await expect(own.store.readAll({ after })).rejects.toThrow(EventStoreClosed);
    await expect(own.store.lastPosition()).rejects.toThrow(EventStoreClosed);
    await expect(follow(own.store, { after }, () => true)).rejects.toThrow(EventStoreClosed);

    const reopened = await own.reopen();
    const slice = await reopened.readStream(stream);
    expect(slice.events).toHaveLength(41);
    expect(idsOf(slice.events).slice(0, received.length)).toEqual(received);
    await reopened.close();
  });

  withFault('30 times of one stream never step back, even when the clock does', faults.setClock, async (setClock) => {
    const stream = freshStream();
    const hour = 3_600_000;
    const noon = Date.UTC(2030, 0, 1, 12);
    for (const [index, time] of [noon, noon - hour, noon - 2 * hour, noon + hour, noon].entries()) {
      setClock(under(), time);
      await store().append(stream, newEvents(2), BigInt(index * 2 - 1));
    }
    setClock(under(), Date.now());
    const times = (await store().readStream(stream)).events.map(({ recordedAt }) => recordedAt);
    expect([...times].sort()).toEqual(times);
    for (const time of times) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/);
    const inNewStream = freshStream();
    await store().append(inNewStream, newEvents(1), NO_STREAM);
    const [event] = (await store().readStream(inNewStream)).events;
    expect(Math.abs(Date.parse(event?.recordedAt ?? '') - Date.now())).toBeLessThan(60_000);
  });

  withFault('32 disk full: writes are refused clearly, reads go on, writing resumes', faults.fillDisk, async (fillDisk) => {
    const category = freshCategory();
    const kept = newEvents(2);
    await store().append(`${category}kept`, kept, NO_STREAM);
    const makeRoom = await fillDisk(under());
    const big = (): ReturnType<typeof newEvent> => newEvent('Happened', { padding: 'x'.repeat(100_000) });
    let taken = 0;
    const fill = async (): Promise<void> => {
      for (; taken < 1_000; taken += 1) await store().append(`${category}filling`, [big()], 'any');
    };
    await expect(fill()).rejects.toThrow(EventStoreFull);
    const together = await Promise.allSettled(
      [1, 2].map((index) => store().append(`${category}new-${String(index)}`, [big()], NO_STREAM)),
    );
    expect(together).toMatchObject([1, 2].map(() => ({ reason: expect.any(EventStoreFull) })));
    expect((await store().readStream(`${category}kept`)).events.map(asWritten)).toEqual(kept);
    expect(await readCategory(store(), category)).toHaveLength(taken + 2);
    await makeRoom();
    expect(await store().append(`${category}new-1`, [big()], NO_STREAM)).toMatchObject({ revision: 0n });
    expect(await store().append(`${category}kept`, newEvents(1), 1n)).toMatchObject({ revision: 2n });
    expect((await readCategory(store(), category)).map(({ stream }) => stream).slice(2 + taken)).toEqual([
      `${category}new-1`,
      `${category}kept`,
    ]);
  });
};

/** Retries until the store is available again, for ten seconds at most. */
const eventually = async <Result>(attempt: () => Promise<Result>): Promise<Result> => {
  const deadline = performance.now() + 10_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof EventStoreUnavailable) || performance.now() > deadline) throw error;
    }
  }
};
