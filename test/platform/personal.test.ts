import { beforeEach, describe, expect, test } from '@jest/globals';
import { createPersonalData, erased, planPersonalData, type PersonalData } from '../../src/platform/personal.js';
import { systemRandom } from '../../src/platform/random.js';
import { openVault, type Vault } from '../../src/platform/vault/vault.js';
import { createMemoryRecords } from '../workers/memoryStores.js';

const anna = 'anna@example.com';

let vault: Vault;
let personal: PersonalData;
beforeEach(async () => {
  const masterKeys = () => Promise.resolve([new Uint8Array(32)]);
  vault = await openVault({ records: createMemoryRecords(), masterKeys, random: systemRandom });
  personal = await createPersonalData(vault);
});

test.each(['Anna', '', anna, 'Ünïcödé 🎈', '\ud800 alone', 'NUL \0', 'encrypted:x:y', 'x'.repeat(5_000)])(
  'what is encrypted is opened as it was: %j',
  async (text) => {
    const encrypted = await personal.encrypt(anna, text);
    expect(encrypted).toMatch(/^encrypted:[0-9a-z]{26}:[\w-]+$/);
    expect(await personal.decrypt(encrypted)).toBe(text);
  },
);

test('the same text of the same person gives the same, of another person or another text something else', async () => {
  const encrypted = await personal.encrypt(anna, 'Anna');
  expect(await (await createPersonalData(vault)).encrypt(anna, 'Anna')).toBe(encrypted);
  expect(await personal.encrypt('berta@example.com', 'Anna')).not.toBe(encrypted);
  const others = await Promise.all(['anna', 'Anna ', ''].map((text) => personal.encrypt(anna, text)));
  expect(new Set([encrypted, ...others]).size).toBe(4);
});

test('what was changed or belongs to another key is a fault, never an answer', async () => {
  const [annas, other] = [await personal.encrypt(anna, 'Anna'), await personal.encrypt('berta@example.com', 'Berta')];
  const flipped = annas.slice(0, -4) + (annas.slice(-4, -3) === 'A' ? 'B' : 'A') + annas.slice(-3);
  await expect(personal.decrypt(flipped)).rejects.toThrow();
  await expect(personal.decrypt(annas.slice(0, 36) + other.slice(36))).rejects.toThrow();
});

test('text that was written before is itself', async () => {
  for (const text of [anna, 'Anna', '', 'encrypted:', 'encrypted:short:abc']) expect(await personal.decrypt(text)).toBe(text);
});

test('only a subject that contains an address is encrypted, or one that looks encrypted', async () => {
  expect(await personal.encryptSubject('auth0|1234')).toBe('auth0|1234');
  const encrypted = await personal.encryptSubject('Anna@example.com');
  expect(await personal.decrypt(encrypted)).toBe('Anna@example.com');
  const pretended = await personal.encryptSubject(encrypted);
  expect(pretended).not.toBe(encrypted);
  expect(await personal.decrypt(pretended)).toBe(encrypted);
  // One person, whatever the case.
  await personal.cryptoShred(await personal.encrypt(anna, anna));
  expect(await personal.decrypt(encrypted)).toBeNull();
});

test('without making a key, the one that is there is used', async () => {
  expect(await personal.encrypt(anna, 'Anna', { makeKey: false })).toBe('Anna');
  expect(await vault.keyOf(`person/${personal.blindIndex(anna)}`, false)).toBeNull();
  const encrypted = await personal.encrypt(anna, 'Anna');
  expect(await personal.encrypt(anna, 'Anna', { makeKey: false })).toBe(encrypted);
});

test('data of an erased person cannot be decrypted, and the person comes back as somebody else', async () => {
  const [before, berta] = [await personal.encrypt(anna, 'Anna'), await personal.encrypt('berta@example.com', 'Berta')];
  await personal.retire(before);
  expect([await personal.decrypt(before), await personal.isCurrent(before)]).toEqual(['Anna', false]);
  const after = await personal.encrypt(anna, 'Anna');
  expect(after).not.toBe(before);
  await personal.cryptoShred(before);
  await personal.cryptoShred(before);
  expect([await personal.decrypt(before), await personal.decrypt(after)]).toEqual([null, 'Anna']);
  expect([await personal.isCurrent(before), await personal.isCurrent(after)]).toEqual([false, true]);
  expect([await personal.display(before), await personal.display(berta)]).toEqual([erased, 'Berta']);
});

describe('in a plan', () => {
  test('no key is made, and the one that is there is used', async () => {
    const plan = planPersonalData(personal);
    expect([await plan.encrypt(anna, 'Anna'), await plan.encryptSubject(anna)]).toEqual(['Anna', anna]);
    expect(await vault.keyOf(`person/${personal.blindIndex(anna)}`, false)).toBeNull();
    const encrypted = await personal.encrypt(anna, 'Anna');
    expect([await plan.encrypt(anna, 'Anna'), await plan.display(encrypted)]).toEqual([encrypted, 'Anna']);
    expect(await plan.encryptSubject('idp|1')).toBe('idp|1');
  });

  test('who is erased is so for the plan alone', async () => {
    const plan = planPersonalData(personal);
    const encrypted = await personal.encrypt(anna, 'Anna');
    await plan.retire(encrypted);
    expect([await plan.isCurrent(encrypted), await plan.decrypt(encrypted), await plan.encrypt(anna, 'Anna')]).toEqual([
      false,
      'Anna',
      'Anna',
    ]);
    await plan.cryptoShred(encrypted);
    expect([await plan.decrypt(encrypted), await plan.display(encrypted)]).toEqual([null, erased]);
    expect([await personal.isCurrent(encrypted), await personal.decrypt(encrypted)]).toEqual([true, 'Anna']);
  });
});
