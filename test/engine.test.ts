import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { createCore } from '../src/compose/core.js';
import { Refused } from '../src/commands/refusal.js';
import type { Engine } from '../src/engine.js';
import { EventRejected } from '../src/events/codec.js';
import { AppendTooLarge } from '../src/events/store/eventStore.js';
import { createLogger } from '../src/platform/logger.js';
import { systemRandom } from '../src/platform/random.js';
import { systemClock } from '../src/platform/clock.js';
import { temporaryFolder } from './support/temporary.js';
import { openSecrets, openVaultIn } from './support/vaults.js';
import { createMemoryRecords } from './workers/memoryStores.js';
import { newContext } from './support/seatProcess.js';
import { room, seatCodec, seatDecider, type RenameRoom, type TakeSeats } from './support/seats.js';
import { engineOn, openStores } from './workers/engines.js';

test('a blind index stays what it is: addresses and subjects are found by it in every log there is', async () => {
  const folder = temporaryFolder();
  cpSync(fileURLToPath(new URL('fixtures/dataFolders/0.1.0', import.meta.url)), folder, { recursive: true });
  const { vault, personal, close } = await openVaultIn(folder, systemClock);
  expect(personal.blindIndex('anna@example.com')).toBe('manbv0ypq70fhj88c44y1qy7dg');
  expect(personal.blindIndex('Anna@example.com')).not.toBe(personal.blindIndex('anna@example.com'));
  await vault.rotate();
  await close();
  const later = await openVaultIn(folder, systemClock);
  expect(later.personal.blindIndex('anna@example.com')).toBe('manbv0ypq70fhj88c44y1qy7dg');
  await later.close();
});

test('a blind index reveals nothing without the key', async () => {
  const stores = await openStores();
  const others = await openSecrets(createMemoryRecords(), [new Uint8Array(32).fill(1)]);
  const index = engineOn(stores).blindIndex('anna@example.com');
  expect(engineOn({ ...stores, ...others }).blindIndex('anna@example.com')).not.toBe(index);
});

describe('a plan', () => {
  const start = async (): Promise<{ readonly engine: Engine; readonly eventsInLog: () => Promise<number> }> => {
    const stores = await openStores();
    const parts = {
      ...stores,
      clock: systemClock,
      random: systemRandom,
      logger: createLogger({ level: 'silent' }),
      codec: seatCodec,
    };
    return {
      engine: createCore(parts).engine,
      eventsInLog: async () => (await stores.eventStore.readAll({ after: 0n })).events.length,
    };
  };
  const take = (engine: Engine, by: string, changes: Partial<TakeSeats> = {}) =>
    engine.handle(seatDecider, { type: 'TakeSeats', by, ...changes }, newContext());
  const takenIn = async (engine: Engine) => (await engine.state(seatDecider, { type: 'TakeSeats', by: '' })).state.takenBy;
  const taken = (by: string, stream = room) => ({ stream, type: 'SeatTaken', data: { by } });

  test('lists what would be appended, and appends nothing', async () => {
    const { engine, eventsInLog } = await start();
    await take(engine, 'Ada');
    const plan = engine.plan();
    const handled = await take(plan.engine, 'Bob', { count: 2 });
    expect(plan.planned).toEqual([taken('Bob'), taken('Bob')]);
    expect(handled).toMatchObject({ state: { takenBy: ['Ada', 'Bob', 'Bob'] }, revision: 2n });
    expect([await takenIn(engine), await eventsInLog()]).toEqual([['Ada'], 1]);
    expect((await take(engine, 'Cyd')).state.takenBy).toEqual(['Ada', 'Cyd']);
  });

  test('a command sees what was planned before it, on every stream', async () => {
    const { engine } = await start();
    await take(engine, 'Ada');
    const plan = engine.plan();
    await take(plan.engine, 'Bob');
    await take(plan.engine, 'Dan', { room: 'room-2' });
    await take(plan.engine, 'Cyd');
    expect(await takenIn(plan.engine)).toEqual(['Ada', 'Bob', 'Cyd']);
    expect(plan.planned).toEqual([taken('Bob'), taken('Dan', 'room-2'), taken('Cyd')]);
    await expect(take(plan.engine, 'Eve', { of: 3 })).rejects.toThrow(Refused);
  });

  test('sees nothing of another plan', async () => {
    const { engine } = await start();
    const [first, other] = [engine.plan(), engine.plan()];
    await take(first.engine, 'Ada');
    expect([await takenIn(other.engine), other.planned]).toEqual([[], []]);
  });

  test('reads the history of a stream with what was planned, at any page size', async () => {
    const { engine } = await start();
    await take(engine, 'Ada', { count: 3 });
    const plan = engine.plan();
    await take(plan.engine, 'Bob', { count: 2 });
    const history = async (after: bigint) => {
      const revisions: bigint[] = [];
      for await (const { revision } of plan.engine.history(seatDecider.stream, { type: 'TakeSeats', by: '' }, after))
        revisions.push(revision);
      return revisions;
    };
    expect(await history(-1n)).toEqual([0n, 1n, 2n, 3n, 4n]);
    expect(await history(1n)).toEqual([2n, 3n, 4n]);
    expect(await history(3n)).toEqual([4n]);
  });

  test('the same command again on a stream plans nothing again', async () => {
    const { engine } = await start();
    const plan = engine.plan();
    const context = newContext();
    const handle = () => plan.engine.handle(seatDecider, { type: 'TakeSeats', by: 'Ada' }, context);
    const first = await handle();
    expect((await handle()).events).toMatchObject(first.events);
    expect(plan.planned).toEqual([taken('Ada')]);
  });

  test('somebody may write at the same time', async () => {
    const { engine } = await start();
    const plan = engine.plan();
    await take(plan.engine, 'Ada');
    await take(engine, 'Bob');
    await take(plan.engine, 'Cyd');
    expect([await takenIn(plan.engine), await takenIn(engine)]).toEqual([['Ada', 'Cyd'], ['Bob']]);
  });

  test.each([
    ['refused by the decider', { type: 'TakeSeats', by: 'Ada', of: 0 }, undefined, Refused],
    ['stale', { type: 'TakeSeats', by: 'Ada' }, { expectedRevision: 4n }, Refused],
    ['with data that is not allowed', { type: 'RenameRoom', name: 7 as unknown as string }, undefined, EventRejected],
    ['too large', { type: 'RenameRoom', name: 'x'.repeat(1_100_000) }, undefined, AppendTooLarge],
  ] as const)('is as strict as a command: %s', async (_, command, options, error) => {
    const plan = (await start()).engine.plan();
    const untimed = command as Omit<TakeSeats, 'at'> | Omit<RenameRoom, 'at'>;
    await expect(plan.engine.handle(seatDecider, untimed, newContext(), options)).rejects.toThrow(error);
    expect(plan.planned).toEqual([]);
  });
});
