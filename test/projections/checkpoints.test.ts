import { expect, test } from '@jest/globals';
import { createCheckpoints } from '../../src/projections/runner/checkpoints.js';
import type { ModelCheckpoint, ReadModel, ReadModelStore } from '../../src/projections/store/readModelStore.js';
import { createTestClock } from '../support/testClock.js';

const modelOf = (name: string): ReadModel => ({ name, version: '1', indexes: [] });

const createWorld = (fault?: Error) => {
  const clock = createTestClock();
  const written: string[][] = [];
  const faults: unknown[] = [];
  const advance = (checkpoints: readonly ModelCheckpoint[]): Promise<void> => {
    written.push(checkpoints.map(({ model, position }) => `${model.name} ${String(position)}`));
    return fault === undefined ? Promise.resolve() : Promise.reject(fault);
  };
  const checkpoints = createCheckpoints({ readModels: { advance } as Partial<ReadModelStore> as ReadModelStore, clock });
  const move = (name: string, position: bigint): void => {
    checkpoints.move(modelOf(name), position, (error) => faults.push(error));
  };
  return { clock, written, faults, checkpoints, move };
};

test('commits that concern none of many models cost one write for all of them', async () => {
  const { clock, written, move } = createWorld();
  for (let position = 1n; position <= 100n; position += 1n) for (const name of ['a', 'b', 'c']) move(name, position);
  await clock.advance(1_000);
  expect(written).toStrictEqual([['a 100', 'b 100', 'c 100']]);
  move('b', 101n);
  await clock.advance(1_000);
  expect(written.slice(1)).toStrictEqual([['b 101']]);
});

test('what a runner that ends has moved is left out', async () => {
  const { clock, written, move, checkpoints } = createWorld();
  move('a', 1n);
  move('b', 1n);
  checkpoints.cancel(modelOf('a'));
  await clock.advance(1_000);
  expect(written).toStrictEqual([['b 1']]);
});

test('a fault of the store reaches every runner that moved', async () => {
  const fault = new Error('away');
  const { clock, faults, move } = createWorld(fault);
  move('a', 1n);
  move('b', 1n);
  await clock.advance(1_000);
  expect(faults).toStrictEqual([fault, fault]);
});
