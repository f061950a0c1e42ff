import { beforeEach, describe, expect, test } from '@jest/globals';
import { createPersonalData, erased, planPersonalData, type PersonalData } from '../../src/platform/personal.js';
import { systemRandom } from '../../src/platform/random.js';
import { openVault, type Vault } from '../../src/platform/vault.js';
import { createTestClock } from '../support/testClock.js';
import { createMemoryRecords } from '../workers/memoryStores.js';

const anna = 'anna@example.com';

let vault: Vault;
let personal: PersonalData;
beforeEach(async () => {
  const masterKeys = () => Promise.resolve([new Uint8Array(32)]);
  vault = await openVault({ records: createMemoryRecords(), masterKeys, clock: createTestClock(), random: systemRandom });
  personal = await createPersonalData(vault);
});

test.each(['Anna', '', anna, 'Ünïcödé 🎈', '\ud800 alone', 'NUL \0', 'sealed:x:y', 'x'.repeat(5_000)])(
  'what is sealed is opened as it was: %j',
  async (text) => {
    const sealed = await personal.seal(anna, text);
    expect(sealed).toMatch(/^sealed:[0-9a-z]{26}:[\w-]+$/);
    expect(await personal.open(sealed)).toBe(text);
  },
);

test('the same text of the same person gives the same, of another person or another text something else', async () => {
  const sealed = await personal.seal(anna, 'Anna');
  expect(await (await createPersonalData(vault)).seal(anna, 'Anna')).toBe(sealed);
  expect(await personal.seal('berta@example.com', 'Anna')).not.toBe(sealed);
  const others = await Promise.all(['anna', 'Anna ', ''].map((text) => personal.seal(anna, text)));
  expect(new Set([sealed, ...others]).size).toBe(4);
});

test('what was changed or belongs to another key is a fault, never an answer', async () => {
  const [mine, other] = [await personal.seal(anna, 'Anna'), await personal.seal('berta@example.com', 'Berta')];
  const flipped = mine.slice(0, -4) + (mine.slice(-4, -3) === 'A' ? 'B' : 'A') + mine.slice(-3);
  await expect(personal.open(flipped)).rejects.toThrow();
  await expect(personal.open(mine.slice(0, 33) + other.slice(33))).rejects.toThrow();
});

test('text that was written before is itself', async () => {
  for (const text of [anna, 'Anna', '', 'sealed:', 'sealed:short:abc']) expect(await personal.open(text)).toBe(text);
});

test('only a subject that tells an address is sealed, or one that looks sealed', async () => {
  expect(await personal.sealSubject('auth0|1234')).toBe('auth0|1234');
  const sealed = await personal.sealSubject('Anna@example.com');
  expect(await personal.open(sealed)).toBe('Anna@example.com');
  const pretended = await personal.sealSubject(sealed);
  expect(pretended).not.toBe(sealed);
  expect(await personal.open(pretended)).toBe(sealed);
  // One person, whatever the case.
  await personal.destroy(await personal.seal(anna, anna));
  expect(await personal.open(sealed)).toBeNull();
});

test('without making a key, the one that is there is used', async () => {
  expect(await personal.seal(anna, 'Anna', { makeKey: false })).toBe('Anna');
  expect(await vault.keyOf(`person/${personal.blindIndex(anna)}`, false)).toBeNull();
  const sealed = await personal.seal(anna, 'Anna');
  expect(await personal.seal(anna, 'Anna', { makeKey: false })).toBe(sealed);
});

test('who was erased is opened by nobody, and comes back as somebody else', async () => {
  const [before, berta] = [await personal.seal(anna, 'Anna'), await personal.seal('berta@example.com', 'Berta')];
  await personal.retire(before);
  expect([await personal.open(before), await personal.isCurrent(before)]).toEqual(['Anna', false]);
  const after = await personal.seal(anna, 'Anna');
  expect(after).not.toBe(before);
  await personal.destroy(before);
  await personal.destroy(before);
  expect([await personal.open(before), await personal.open(after)]).toEqual([null, 'Anna']);
  expect([await personal.isCurrent(before), await personal.isCurrent(after)]).toEqual([false, true]);
  expect([await personal.shown(before), await personal.shown(berta)]).toEqual([erased, 'Berta']);
});

describe('in a plan', () => {
  test('no key is made, and the one that is there is used', async () => {
    const plan = planPersonalData(personal);
    expect([await plan.seal(anna, 'Anna'), await plan.sealSubject(anna)]).toEqual(['Anna', anna]);
    expect(await vault.keyOf(`person/${personal.blindIndex(anna)}`, false)).toBeNull();
    const sealed = await personal.seal(anna, 'Anna');
    expect([await plan.seal(anna, 'Anna'), await plan.shown(sealed)]).toEqual([sealed, 'Anna']);
    expect(await plan.sealSubject('idp|1')).toBe('idp|1');
  });

  test('who is erased is so for the plan alone', async () => {
    const plan = planPersonalData(personal);
    const sealed = await personal.seal(anna, 'Anna');
    await plan.retire(sealed);
    expect([await plan.isCurrent(sealed), await plan.open(sealed), await plan.seal(anna, 'Anna')]).toEqual([
      false,
      'Anna',
      'Anna',
    ]);
    await plan.destroy(sealed);
    expect([await plan.open(sealed), await plan.shown(sealed)]).toEqual([null, erased]);
    expect([await personal.isCurrent(sealed), await personal.open(sealed)]).toEqual([true, 'Anna']);
  });
});
