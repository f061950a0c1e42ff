import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { UnknownEvent } from '../../src/events/codec.js';
import { withItems, type Fold } from '../../src/events/fold.js';
import { EventStoreUnavailable, NO_STREAM } from '../../src/events/store/eventStore.js';
import { createStreamFolds, type Folded, type Snapshot, type StreamFolds } from '../../src/events/streamFolds.js';
import { newEvent } from '../support/eventStoreEvents.js';
import { names, newContext, startTwo, type SeatProcess } from '../support/seatProcess.js';
import { room, seatCodec, seatDecider, type SeatEvent, type SeatState } from '../support/seats.js';

let local: SeatProcess;
let other: SeatProcess;
let folds: StreamFolds;

beforeEach(async () => {
  [local, other] = await startTwo();
  folds = createStreamFolds(local.store, seatCodec);
});

const load = (stream = room, seed?: () => Promise<Folded<SeatState> | null>): Promise<Folded<SeatState>> =>
  folds.load(seatDecider, stream, { seed });

const takeMany = async (count: number): Promise<void> => {
  await other.handle(seatDecider, { type: 'TakeSeats', by: 'Ada', count }, newContext());
};

/** What `work` read, as first revision and number of events. */
const readsOf = async (work: () => Promise<unknown>): Promise<readonly (readonly [bigint, number])[]> => {
  local.store.reads.length = 0;
  await work();
  return local.store.reads.map(({ from, events }) => [from, events]);
};

test('a stream that does not exist is the initial state', async () => {
  expect(await load()).toEqual({ state: seatDecider.initialState, revision: NO_STREAM, at: '' });
});

test('a stream is folded to its end, and the fold has the revision and time of its last event', async () => {
  await other.take('Ada');
  const { state } = await other.take('Bob');
  expect(await load()).toEqual({ state, revision: 1n, at: state.times[1] });
});

test('what another process appends is there at once, and only that is read', async () => {
  await other.take('Ada');
  expect(await readsOf(load)).toEqual([[0n, 1]]);
  await other.take('Bob');
  await other.take('Cyd');
  expect(await readsOf(load)).toEqual([[1n, 2]]);
  expect((await load()).state.takenBy).toEqual(['Ada', 'Bob', 'Cyd']);
  expect(await readsOf(load)).toEqual([[3n, 0]]);
});

test('streams, and folds of one stream, are kept apart', async () => {
  await other.take('Ada');
  await load();
  expect((await load('room-2')).state.takenBy).toEqual([]);
  const count = { name: 'count', initialState: 0, evolve: (before: number) => before + 1 };
  expect((await folds.load(count, room)).state).toBe(1);
  expect((await load()).state.takenBy).toEqual(['Ada']);
});

test('a long stream is read page by page', async () => {
  await takeMany(2_500);
  expect(await readsOf(load)).toEqual([
    [0n, 32],
    ...Array.from({ length: 9 }, (_, index) => [32n + 250n * BigInt(index), 250]),
    [2_282n, 218],
  ]);
  const { state, revision } = await load();
  expect([state.takenBy.length, revision]).toEqual([2_500, 2_499n]);
});

test('a stream that is exactly a page long is read once', async () => {
  await takeMany(32);
  expect(await readsOf(load)).toEqual([[0n, 32]]);
});

test('a list that grows with the stream is copied once, and a state that was returned stays as it was', async () => {
  let copies = 0;
  const list: Fold<readonly string[], SeatEvent> = {
    name: 'list',
    initialState: [],
    evolve: (before, { id }) => {
      const after = withItems(before, id);
      copies += after === before ? 0 : 1;
      return after;
    },
  };
  await takeMany(2_500);
  const first = await folds.load(list, room);
  expect([first.state.length, copies]).toEqual([2_500, 1]);
  await takeMany(3);
  const second = await folds.load(list, room);
  expect([first.state.length, second.state.length, copies]).toEqual([2_500, 2_503, 2]);
});

test('other work gets its turn between the pages of a long stream', async () => {
  await takeMany(1_500);
  let turns = 0;
  const count = (): void => {
    turns += 1;
    if (!isLoaded) setImmediate(count);
  };
  let isLoaded = false;
  setImmediate(count);
  await load();
  isLoaded = true;
  expect(turns).toBeGreaterThanOrEqual(5);
});

test('a stream is folded through a revision, whatever is kept, was stored or appended since', async () => {
  await other.take('Ada');
  await other.take('Bob');
  const through = (revision: bigint, seed?: () => Promise<Folded<SeatState> | null>) =>
    folds.load(seatDecider, room, { seed, through: revision });
  const ada = { state: { takenBy: ['Ada'] }, revision: 0n };
  const stored = { state: { takenBy: ['too', 'new'], times: [] }, revision: 1n, at: '' };
  expect(await through(0n, () => Promise.resolve(stored))).toMatchObject(ada);
  // What was kept of it is where the whole fold goes on.
  expect(await readsOf(load)).toEqual([[1n, 1]]);
  expect(await through(0n)).toMatchObject(ada);
  expect(await through(1n)).toEqual(await load());
  expect(await readsOf(() => through(1n))).toEqual([[2n, 0]]);
  expect(await through(9n)).toEqual(await load());
  await takeMany(1_500);
  expect(await through(1_100n)).toMatchObject({ revision: 1_100n });
  expect((await load()).revision).toBe(1_501n);
});

test('what is appended while a long stream is read is in the result', async () => {
  await takeMany(1_500);
  let pages = 0;
  local.store.readFault = async (read) => {
    pages += 1;
    if (pages === 2) await other.take('Bob');
    return read();
  };
  expect((await load()).state.takenBy.at(-1)).toBe('Bob');
});

describe('loads that overlap', () => {
  /** Begins a load that reads at once, but returns only when it is released. */
  const loadSlowly = (): (() => Promise<Folded<SeatState>>) => {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    local.store.readFault = async (read) => {
      local.store.readFault = null;
      const slice = await read();
      await released;
      return slice;
    };
    const loading = load();
    return () => {
      release();
      return loading;
    };
  };

  test('never take the state back: the one that saw less does not replace the one that saw more', async () => {
    await other.take('Ada');
    await load();
    const finish = loadSlowly();
    await other.take('Bob');
    expect((await load()).revision).toBe(1n);
    expect((await finish()).revision).toBe(0n);
    expect(await readsOf(load)).toEqual([[2n, 0]]);
    expect((await load()).state.takenBy).toEqual(['Ada', 'Bob']);
  });

  test('all see what was committed before they began, and none sees less than one that ended before it began', async () => {
    let last = NO_STREAM;
    const writing = (async () => {
      for (let count = 0; count < 20; count += 1) await other.take('Ada');
    })();
    const reading = Array.from({ length: 5 }, async () => {
      while (last < 19n) {
        await nextTurn();
        const seen = last;
        const { revision, state } = await load();
        expect(revision).toBeGreaterThanOrEqual(seen);
        expect(state.takenBy).toHaveLength(Number(revision) + 1);
        if (revision > last) last = revision;
      }
    });
    await Promise.all([writing, ...reading]);
    expect(last).toBe(19n);
  });
});

describe('loads at the same time share what they read', () => {
  test('of a stream that nobody read yet: one reads it, and one read more serves all who came meanwhile', async () => {
    await takeMany(500);
    const loads = await readsOf(async () => {
      const found = await Promise.all(Array.from({ length: 20 }, () => load()));
      expect(found.map(({ revision }) => revision)).toEqual(found.map(() => 499n));
    });
    expect(loads).toEqual([
      [0n, 32],
      [32n, 250],
      [282n, 218],
      [500n, 0],
    ]);
  });

  test('but not those that ask for the stream as of a revision', async () => {
    await other.take('Ada');
    await other.take('Bob');
    await load();
    const found = await Promise.all([load(), folds.load(seatDecider, room, { through: 0n }), load()]);
    expect(found.map(({ revision }) => revision)).toEqual([1n, 0n, 1n]);
  });

  test('a load that comes after a read was sent sees what was committed before it came', async () => {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    local.store.readFault = async (read) => {
      const slice = await read();
      await released;
      return slice;
    };
    await other.take('Ada');
    const first = load();
    await nextTurn();
    await other.take('Bob');
    const late = [load(), load()];
    release();
    expect((await first).revision).toBe(0n);
    expect((await Promise.all(late)).map(({ revision }) => revision)).toEqual([1n, 1n]);
  });

  test('a fault of the read that others wait for is theirs too, and the next load asks again', async () => {
    await other.take('Ada');
    local.store.readFault = async () => {
      await nextTurn();
      throw new EventStoreUnavailable('the store is down');
    };
    const outcomes = await Promise.allSettled([load(), load(), load()]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    local.store.readFault = null;
    expect((await load()).revision).toBe(0n);
  });
});

test('no more bytes are kept than asked for; what was dropped is read again', async () => {
  folds = createStreamFolds(local.store, seatCodec, { maxBytes: 10_000 });
  for (const stream of ['room-1', 'room-2', 'room-3']) {
    await other.handle(seatDecider, { type: 'TakeSeats', room: stream, by: 'x'.repeat(3_000) }, newContext());
    await load(stream);
  }
  expect(await readsOf(() => load('room-3'))).toEqual([[1n, 0]]);
  expect(await readsOf(() => load('room-2'))).toEqual([[1n, 0]]);
  expect(await readsOf(() => load('room-1'))).toEqual([[0n, 1]]);
  expect(await readsOf(() => load('room-3'))).toEqual([[0n, 1]]);
});

test('streams that do not exist are not kept, and drive out nothing', async () => {
  await other.take('Ada');
  await load();
  for (let count = 0; count < 100; count += 1) await load(`room-${'unknown'.repeat(120)}-${String(count)}`);
  expect(await readsOf(load)).toEqual([[1n, 0]]);
});

describe('a snapshot', () => {
  const fold = { ...seatDecider, snapshotVersion: 1 };
  let saved: Map<string, Snapshot>;

  /** The folds of a process that was just started. */
  const started = (): StreamFolds =>
    createStreamFolds(local.store, seatCodec, {
      snapshots: {
        load: ({ snapshotVersion }, stream) => Promise.resolve(saved.get(`${String(snapshotVersion)} ${stream}`) ?? null),
        save: ({ snapshotVersion }, stream, snapshot) => {
          saved.set(`${String(snapshotVersion)} ${stream}`, structuredClone(snapshot));
          return Promise.resolve();
        },
      },
    });

  const loadFold = async (of: typeof fold = fold): Promise<Folded<SeatState>> => started().load(of, room);

  beforeEach(() => {
    saved = new Map();
  });

  test('is kept of a long stream, and is where another process begins', async () => {
    await takeMany(1_500);
    const whole = await loadFold();
    await other.take('Bob');
    expect(await readsOf(loadFold)).toEqual([
      [0n, 32],
      [1_499n, 1],
      [1_500n, 1],
    ]);
    const { state, revision } = await loadFold();
    expect([state.takenBy, revision]).toEqual([[...whole.state.takenBy, 'Bob'], 1_500n]);
  });

  test('is not kept of a short one, and comes again after a thousand events', async () => {
    await takeMany(900);
    const process = started();
    await process.load(fold, room);
    expect(saved.size).toBe(0);
    const revisions: unknown[] = [];
    for (let count = 0; count < 13; count += 1) {
      await takeMany(100);
      await process.load(fold, room);
      revisions.push(saved.get(`1 ${room}`)?.revision);
    }
    expect([...new Set(revisions)]).toEqual([999n, 1_999n]);
  });

  test('of another version, of another history or ahead of the log is ignored', async () => {
    await takeMany(1_500);
    const whole = await loadFold();
    expect(await readsOf(() => loadFold({ ...fold, snapshotVersion: 2 }))).toHaveLength(7);
    const wrong = { ...(saved.get(`1 ${room}`) as Snapshot), state: { takenBy: [], times: [] } };
    for (const snapshot of [
      { ...wrong, eventId: 'of another history' },
      { ...wrong, revision: 9_999n },
    ]) {
      saved.set(`1 ${room}`, snapshot);
      expect(await loadFold()).toEqual(whole);
    }
  });
});

describe('a seed', () => {
  /** Of a stream of 40 events, more than are read before a seed is asked for. */
  const seeded = { state: { takenBy: ['Seed'], times: [''] }, revision: 38n, at: '' };

  test('is where a fold begins', async () => {
    await takeMany(39);
    await other.take('Bob');
    expect(await readsOf(() => load(room, () => Promise.resolve(seeded)))).toEqual([
      [0n, 32],
      [39n, 1],
    ]);
    expect((await load()).state.takenBy).toEqual(['Seed', 'Bob']);
  });

  test('is asked for only when nothing is kept of a long stream', async () => {
    let asked = 0;
    const counting = () => {
      asked += 1;
      return Promise.resolve(null);
    };
    await load('room-2', counting);
    await takeMany(32);
    await load(room, counting);
    expect(asked).toBe(0);
    await takeMany(1);
    await load(room, counting);
    expect(asked).toBe(0);
    folds = createStreamFolds(local.store, seatCodec);
    await load(room, counting);
    expect(asked).toBe(1);
  });

  test('that does not exist is no error', async () => {
    await takeMany(40);
    expect((await load(room, () => Promise.resolve(null))).state.takenBy).toHaveLength(40);
  });

  test('that is ahead of the log is not believed', async () => {
    await takeMany(40);
    const ahead = { ...seeded, revision: 70n };
    expect((await load(room, () => Promise.resolve(ahead))).state.takenBy).toEqual(names(40).map(() => 'Ada'));
    expect(await load('room-2', () => Promise.resolve(ahead))).toEqual({
      state: seatDecider.initialState,
      revision: NO_STREAM,
      at: '',
    });
    await other.take('Bob');
    expect((await load()).state.takenBy).toEqual([...names(40).map(() => 'Ada'), 'Bob']);
  });
});

describe('a fault', () => {
  test('of the store is passed on, and nothing is taken for the truth', async () => {
    await other.take('Ada');
    await load();
    local.store.readFault = () => Promise.reject(new EventStoreUnavailable('the store is down'));
    await expect(load()).rejects.toThrow(EventStoreUnavailable);
    local.store.readFault = null;
    expect((await load()).state.takenBy).toEqual(['Ada']);
  });

  test('in the middle of a long stream keeps no half of it', async () => {
    await takeMany(1_500);
    let pages = 0;
    local.store.readFault = (read) => {
      pages += 1;
      return pages === 2 ? Promise.reject(new EventStoreUnavailable('the store is down')) : read();
    };
    await expect(load()).rejects.toThrow(EventStoreUnavailable);
    expect((await load()).revision).toBe(1_499n);
  });

  test('an event that this build does not know ends the fold, each time again', async () => {
    await other.take('Ada');
    await local.store.append(room, [newEvent('SomethingNew')], 0n);
    await expect(load()).rejects.toThrow(UnknownEvent);
    await expect(load()).rejects.toThrow(UnknownEvent);
  });

  test('a stream that cannot be read to its end is an error, not an older state', async () => {
    await other.take('Ada');
    await other.take('Bob');
    local.store.readFault = async (read) => ({ ...(await read()), head: 5n });
    await expect(load()).rejects.toThrow('stream room-1 reaches to revision 5, but cannot be read after 1');
  });
});
